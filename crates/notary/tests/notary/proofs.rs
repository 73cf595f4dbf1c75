//! Answers to callers, verified as a stranger verifies them.

use chassis::auth::{Identity, Role};
use merkle::{
    Checkpoint, Hash, TreeHead, bundle, leaf_hash, verify_consistency, verify_inclusion,
    verify_records,
};
use notary::EntryReaders;
use notary::api::{Api, handler};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_server::LogService as _;
use proto::audit::v1::record_selection::By;
use proto::common::v1::ErrorReason;
use tonic::{Request, Status};

use crate::harness::Harness;

fn hashes(of: &[Vec<u8>]) -> Vec<Hash> {
    of.iter().map(|hash| Hash::try_from(hash.as_slice()).unwrap()).collect()
}

fn refused<T: std::fmt::Debug>(answer: Result<T, Status>) -> ErrorReason {
    wire::status::reason_of(&answer.unwrap_err()).unwrap()
}

fn head(note: &str) -> TreeHead {
    let text = merkle::note::Note::parse(note.as_bytes()).unwrap();
    Checkpoint::parse(text.text()).unwrap().head()
}

/// Selects what a request of `somebody` wrote; its id is `n` 16 times, and `length` characters of it.
fn of_request(n: u8, length: usize) -> By {
    let mut request_id = eventlog::RequestId([n; 16]).to_string();
    request_id.truncate(length);
    By::Request(pb::RequestSelection { request_id, actor: "somebody".into() })
}

async fn harness(size: u64) -> (Harness, Api, Vec<Hash>) {
    let harness = Harness::signed_whole(size).await;
    let api = handler(harness.notary.clone(), "table", EntryReaders::Everybody);
    let events = harness.log.read(eventlog::Position(0), 100_000).await.unwrap();
    let leaves = events.iter().map(|event| leaf_hash(&event.record())).collect();
    (harness, api, leaves)
}

#[tokio::test(start_paused = true)]
async fn inclusion_is_proved_in_the_newest_and_in_older_trees() {
    let (_house, api, leaves) = harness(1_300).await;
    for position in [0, 1, 255, 256, 700, 1_023, 1_279, 1_280, 1_299] {
        for size in [0, position + 1, (position + 300).min(1_300)] {
            let asked = pb::ProveInclusionRequest { log: "table".into(), position, size };
            let answer = api.prove_inclusion(Request::new(asked)).await.unwrap().into_inner();
            let pb::ProveInclusionResponse { size, proof, checkpoint } = answer;
            let count = usize::try_from(size).unwrap();
            let root = merkle::leaves_root(&leaves[..count]);
            if size == 1_300 {
                assert_eq!(head(&checkpoint), TreeHead { size, root });
            }
            let leaf = &leaves[usize::try_from(position).unwrap()];
            verify_inclusion(leaf, position, size, &hashes(&proof), &root).unwrap();
        }
    }
    for (position, size) in [(1_300, 0), (5, 5), (5, 1_301)] {
        let asked = pb::ProveInclusionRequest { log: "table".into(), position, size };
        let answer = api.prove_inclusion(Request::new(asked)).await;
        assert_eq!(refused(answer), ErrorReason::NotInLog, "{position} in {size}");
    }
}

#[tokio::test(start_paused = true)]
async fn growth_is_proved_between_any_two_trees() {
    let (_house, api, leaves) = harness(1_300).await;
    for (old_size, new_size) in
        [(0, 0), (0, 9), (1, 0), (255, 256), (256, 1_300), (300, 1_024), (1_299, 0), (1_300, 0)]
    {
        let asked = pb::ProveConsistencyRequest { log: "table".into(), old_size, new_size };
        let answer = api.prove_consistency(Request::new(asked)).await.unwrap().into_inner();
        let root = |size: u64| merkle::leaves_root(&leaves[..usize::try_from(size).unwrap()]);
        let (old, new) = (root(old_size), root(answer.new_size));
        let (old, new) = ((old_size, &old), (answer.new_size, &new));
        verify_consistency(old, new, &hashes(&answer.proof)).unwrap();
    }
    let asked = pb::ProveConsistencyRequest { log: "table".into(), old_size: 9, new_size: 8 };
    assert_eq!(refused(api.prove_consistency(Request::new(asked)).await), ErrorReason::NotInLog);
}

#[tokio::test(start_paused = true)]
async fn tiles_and_entries_fit_each_other() {
    let (_house, api, leaves) = harness(700).await;
    for (index, width) in [(0, 0), (0, 256), (1, 256), (1, 3), (2, 188), (2, 1)] {
        let log = "table".to_owned();
        let asked = pb::GetTileRequest { log: log.clone(), level: 0, index, width };
        let tile = api.get_tile(Request::new(asked)).await.unwrap().into_inner().hashes;
        let tile: Vec<Hash> = tile.as_chunks().0.to_vec();
        let first = usize::try_from(index).unwrap() * 256;
        assert_eq!(tile, leaves[first..first + tile.len()]);
        let asked = pb::GetEntriesRequest { log, index, width };
        let entries = api.get_entries(Request::new(asked)).await.unwrap().into_inner().entries;
        assert_eq!(bundle::parse_verified(&entries, &tile).unwrap().len(), tile.len());
    }
    for (level, index, width) in [(0, 2, 189), (0, 2, 0), (0, 3, 1), (1, 0, 3), (7, 0, 1)] {
        let asked = pb::GetTileRequest { log: "table".into(), level, index, width };
        let answer = api.get_tile(Request::new(asked)).await;
        assert_eq!(refused(answer), ErrorReason::NotInLog, "{level}/{index}/{width}");
    }
    for (level, width) in [(8, 1), (0, 257)] {
        let asked = pb::GetTileRequest { log: "table".into(), level, index: 0, width };
        assert_eq!(refused(api.get_tile(Request::new(asked)).await), ErrorReason::BadField);
    }
    let asked = pb::GetCheckpointRequest { log: "dealer".into() };
    assert_eq!(refused(api.get_checkpoint(Request::new(asked)).await), ErrorReason::NotInLog);
}

/// Reads records and verifies them like the reader of a bundle. Returns their positions.
async fn read(api: &Api, selections: Vec<By>) -> Vec<u64> {
    let selections = selections.into_iter().map(|by| pb::RecordSelection { by: Some(by) });
    let asked = pb::ReadRecordsRequest {
        log: "table".into(),
        selections: selections.collect(),
        cosigned: false,
    };
    let answer = api.read_records(Request::new(asked)).await.unwrap().into_inner();
    let pb::BundleLog { name, key, checkpoint, records, proof } = answer.log.unwrap();
    assert_eq!(name, "table");
    let key = merkle::note::VerifierKey::parse(&key).unwrap();
    let opened = Checkpoint::open(checkpoint.as_bytes(), &key, &[]).unwrap();
    let TreeHead { size, root } = opened.checkpoint.head();
    let leaf = |record: &pb::LogRecord| {
        let event = eventlog::Event {
            position: eventlog::Position(record.position),
            recorded_at: eventlog::UnixMicros(record.recorded_at_micros),
            stream: eventlog::StreamId(record.stream.as_slice().try_into().unwrap()),
            version: eventlog::Version(record.version),
            kind: u16::try_from(record.r#type).unwrap(),
            schema: u16::try_from(record.schema).unwrap(),
            sealed: record.sealed,
            payload: record.payload.clone().into(),
            salt: record.salt.as_slice().try_into().unwrap(),
            author_hash: record.author_hash.as_slice().try_into().unwrap(),
            request_id: None,
            actor: "".into(),
            trace: [0; 16],
            previous: record.previous.as_slice().try_into().unwrap(),
        };
        (record.position, leaf_hash(&event.record()))
    };
    let leaves: Vec<(u64, Hash)> = records.iter().map(leaf).collect();
    verify_records(&leaves, size, &hashes(&proof), &root).unwrap();
    leaves.iter().map(|(position, _)| *position).collect()
}

fn stream(n: u8, from_version: u64, limit: u32, before_position: u64) -> By {
    let stream_id = eventlog::StreamId([n; 16]).to_string();
    By::Stream(pb::StreamSelection { stream_id, from_version, limit, before_position })
}

fn positions(first: u64, count: u32) -> By {
    By::Positions(pb::PositionSelection { first, count })
}

#[tokio::test(start_paused = true)]
async fn records_are_read_with_one_proof_for_all() {
    let (harness, api, _) = harness(1_000).await;
    assert_eq!(read(&api, vec![positions(998, 9)]).await, [998, 999]);
    assert_eq!(read(&api, vec![positions(7, 2), positions(8, 2)]).await, [7, 8, 9]);
    let whole: Vec<u64> = (0..1_000).filter(|n| n % 5 == 3).collect();
    assert_eq!(read(&api, vec![stream(3, 0, 0, 0)]).await, whole);
    assert_eq!(read(&api, vec![stream(3, 199, 0, 0)]).await, [993, 998]);
    assert_eq!(read(&api, vec![stream(3, 1, 2, 0)]).await, [3, 8]);
    // The last records before a position, in any place of the stream.
    assert_eq!(read(&api, vec![stream(3, 0, 2, 500)]).await, [493, 498]);
    assert_eq!(read(&api, vec![stream(3, 0, 2, 498)]).await, [488, 493]);
    assert_eq!(read(&api, vec![stream(3, 0, 1, 5_000)]).await, [998]);
    assert_eq!(read(&api, vec![stream(3, 0, 9, 4)]).await, [3]);
    assert_eq!(read(&api, vec![stream(3, 0, 9, 3)]).await, Vec::<u64>::new());
    assert_eq!(read(&api, vec![stream(77, 0, 0, 0)]).await, Vec::<u64>::new());
    // A record that was acknowledged a moment ago is returned.
    harness.write(1).await;
    assert_eq!(read(&api, vec![positions(1_000, 1)]).await, [1_000]);
}

#[tokio::test(start_paused = true)]
async fn what_one_request_wrote_is_found_by_it() {
    let (harness, api, _) = harness(10).await;
    let event = |n: u8| eventlog::NewEvent {
        stream: eventlog::StreamId([n; 16]),
        kind: 1,
        schema: 1,
        sealed: false,
        payload: vec![n].into(),
    };
    let request = eventlog::Request {
        id: eventlog::RequestId([8; 16]),
        digest: [1; 32],
        answer: "done".into(),
    };
    let entry = eventlog::Entry {
        events: (0..4).map(event).collect(),
        request: Some(request),
        actor: "somebody".into(),
        trace: [5; 16],
    };
    harness.log.append(entry).await.unwrap();
    harness.write(5).await;
    assert_eq!(read(&api, vec![of_request(8, 36)]).await, [10, 11, 12, 13]);
    assert_eq!(read(&api, vec![of_request(9, 36)]).await, Vec::<u64>::new());
    let request = pb::RequestSelection {
        request_id: eventlog::RequestId([8; 16]).to_string(),
        actor: "another".into(),
    };
    assert_eq!(read(&api, vec![By::Request(request)]).await, Vec::<u64>::new());
}

#[tokio::test(start_paused = true)]
async fn too_much_and_too_little_are_refused() {
    let (_house, api, _) = harness(5_000).await;
    for selections in [
        vec![],
        vec![positions(0, 5_000)],
        vec![positions(0, 0)],
        vec![positions(0, 4_000), positions(4_000, 1_000)],
        vec![of_request(1, 35)],
        vec![positions(0, 1); 17],
    ] {
        let selections = selections.into_iter().map(|by| pb::RecordSelection { by: Some(by) });
        let selections = selections.collect();
        let asked = pb::ReadRecordsRequest { log: "table".into(), selections, cosigned: false };
        assert_eq!(refused(api.read_records(Request::new(asked)).await), ErrorReason::BadField);
    }
}

/// Evidence of disputes makes long records. A tile of leaf records has them like any other, and no
/// answer has many of them.
#[tokio::test(start_paused = true)]
async fn long_records_are_in_tiles_and_a_few_in_an_answer() {
    let harness = Harness::new().await;
    for n in 0..40 {
        let event = eventlog::NewEvent {
            stream: eventlog::StreamId([n; 16]),
            kind: 1,
            schema: 1,
            sealed: true,
            payload: vec![n; 256 << 10].into(),
        };
        let (events, actor) = (vec![event], "somebody".into());
        let entry = eventlog::Entry { events, request: None, actor, trace: [5; 16] };
        harness.log.append(entry).await.unwrap();
    }
    harness.wait_until_signed(40).await;
    let api = handler(harness.notary.clone(), "table", EntryReaders::Everybody);
    let asked = pb::GetEntriesRequest { log: "table".into(), index: 0, width: 40 };
    let entries = api.get_entries(Request::new(asked)).await.unwrap().into_inner().entries;
    assert_eq!(bundle::parse(&entries).unwrap().len(), 40);
    assert_eq!(read(&api, vec![positions(3, 16)]).await, (3..19).collect::<Vec<_>>());
    for selections in [vec![positions(0, 40)], vec![positions(0, 9), positions(20, 9)]] {
        let selections = selections.into_iter().map(|by| pb::RecordSelection { by: Some(by) });
        let selections = selections.collect();
        let asked = pb::ReadRecordsRequest { log: "table".into(), selections, cosigned: false };
        assert_eq!(refused(api.read_records(Request::new(asked)).await), ErrorReason::BadField);
    }
}

/// ARCHITECTURE.md §2.12.
#[tokio::test(start_paused = true)]
async fn a_log_may_keep_its_leaf_records_for_auditors() {
    let (harness, _, _) = harness(10).await;
    let api = handler(harness.notary.clone(), "table", EntryReaders::Auditors);
    let asked = |role| {
        let asked = pb::GetEntriesRequest { log: "table".into(), index: 0, width: 10 };
        let mut request = Request::new(asked);
        if let Some(role) = role {
            request.extensions_mut().insert(Identity::new(role, "somebody"));
        }
        api.get_entries(request)
    };
    for role in [None, Some(Role::Player), Some(Role::Operator), Some(Role::Service)] {
        assert_eq!(refused(asked(role).await), ErrorReason::RoleNotAllowed, "{role:?}");
    }
    assert!(asked(Some(Role::Auditor)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_changed_record_is_not_given_out() {
    let (harness, api, _) = harness(1_000).await;
    harness.store.tamper(crate::harness::LOG, |events| events[77].payload = "other".into());
    let selections = vec![pb::RecordSelection { by: Some(positions(70, 20)) }];
    let asked = pb::ReadRecordsRequest { log: "table".into(), selections, cosigned: false };
    let refusal = api.read_records(Request::new(asked)).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&refusal), Some(ErrorReason::Corrupt));
    assert!(refusal.message().contains("record 77"), "{refusal}");
}
