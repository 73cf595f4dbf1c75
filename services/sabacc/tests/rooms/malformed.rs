//! Bytes that are no message are refused as bad input of the caller, without a line in the log.

use bytes::{Buf, BufMut, Bytes};
use chassis::auth::Role;
use prost_reflect::DescriptorPool;
use proto::common::v1::ErrorReason;
use rustix::process::Signal;
use system::ids::IdMaker;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Status};

use crate::harness::RoomHarness;
use crate::matrix::{PUBLIC, allowed};
use crate::people::{channel, with_token};

/// Codec for raw bytes.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_a_bad_field_everywhere_and_no_warning() {
    let harness = RoomHarness::new();
    let mut room = harness.up_with(&["--no-bots"], &[("RUST_LOG", "warn")]).await;
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    let channel = channel(&room.url);
    let player = IdMaker::system().player_id().to_string();
    let mut asked = 0;
    for service in PUBLIC {
        for method in pool.get_service_by_name(service).unwrap().methods() {
            let subject = |role| if role == Role::Player { &*player } else { "test" };
            let role = allowed(&pool, &method).roles.first().copied();
            let token = role.map(|role| harness.token(role, subject(role)));
            // An unknown field; one that ends too early; invalid text.
            for bytes in [&b"\x0f"[..], b"\x0a\xff\xff\xff\x7f", b"\x0a\x02\xff\xfe\x0f"] {
                let path = format!("/{service}/{}", method.name()).parse().unwrap();
                let mut grpc = Grpc::new(channel.clone());
                grpc.ready().await.unwrap();
                let bytes = Bytes::copy_from_slice(bytes);
                let once = futures_util::stream::iter([bytes]);
                let once = match &token {
                    Some(token) => with_token(token, once),
                    None => tonic::Request::new(once),
                };
                let mut answers = match grpc.streaming(once, path, Raw).await {
                    Ok(answers) => answers.into_inner(),
                    Err(status) => {
                        refused(&status, method.full_name());
                        asked += 1;
                        continue;
                    }
                };
                let status = answers.message().await.expect_err(method.full_name());
                refused(&status, method.full_name());
                asked += 1;
            }
        }
    }
    assert!(asked >= 90, "{asked} calls");
    assert!(!room.running.log().contains("WARN"), "{}", room.running.log());
    room.running.stop(Signal::INT).await;
}

fn refused(status: &Status, method: &str) {
    let reason = wire::status::reason_of(status);
    assert_eq!(reason, Some(ErrorReason::BadField), "{method}: {status:?}");
    assert_eq!(status.code(), Code::InvalidArgument, "{method}: {status:?}");
}
