//! The committed bindings are exactly what the protobuf files give.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost::Message;

/// Makes all bindings into `out`: the code of every package and the descriptor set.
fn generate(root: &Path, out: &Path) {
    let mut files: Vec<PathBuf> = Vec::new();
    collect(&root.join("sabacc"), &mut files);
    files.sort();
    let mut compiler = protox::Compiler::new([root]).unwrap();
    compiler.include_imports(true).include_source_info(true);
    compiler.open_files(&files).unwrap();
    let descriptors = compiler.file_descriptor_set();
    // Kept as protox encodes it: prost's own types would drop the options we define.
    let encoded = compiler.encode_file_descriptor_set();
    fs::write(out.join("descriptors.bin"), strip_source_info(&encoded)).unwrap();
    tonic_prost_build::configure()
        .out_dir(out)
        .bytes(".sabacc.event.v1")
        .btree_map(".")
        // The large variants of the messages that are sent most often, and moved several times on
        // their way.
        .boxed(".sabacc.table.v1.WatchTableResponse.message.snapshot")
        .boxed(".sabacc.table.v1.WatchTableResponse.message.update")
        .compile_fds(descriptors)
        .unwrap();
}

/// Comments make the set five times as large and serve nobody at run time.
fn strip_source_info(encoded: &[u8]) -> Vec<u8> {
    let mut files = Vec::new();
    let mut rest = encoded;
    while !rest.is_empty() {
        let (tag, _) = prost::encoding::decode_key(&mut rest).unwrap();
        assert_eq!(tag, 1, "a FileDescriptorSet has only files");
        let len = usize::try_from(prost::encoding::decode_varint(&mut rest).unwrap()).unwrap();
        let (file, after) = rest.split_at(len);
        rest = after;
        let kept = without_field(file, 9);
        prost::encoding::encode_key(1, prost::encoding::WireType::LengthDelimited, &mut files);
        prost::encoding::encode_varint(kept.len() as u64, &mut files);
        files.extend_from_slice(&kept);
    }
    files
}

/// A message's bytes without one length-delimited field.
fn without_field(message: &[u8], field: u32) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let before = rest;
        let (tag, wire) = prost::encoding::decode_key(&mut rest).unwrap();
        let context = prost::encoding::DecodeContext::default();
        prost::encoding::skip_field(wire, tag, &mut rest, context).unwrap();
        if tag != field {
            kept.extend_from_slice(&before[..before.len() - rest.len()]);
        }
    }
    kept
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "proto") {
            files.push(path);
        }
    }
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
        })
        .collect()
}

#[test]
fn bindings_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = root.join("src/gen");
    let write = env::var_os("SABACC_WRITE_BINDINGS").is_some();
    if write {
        fs::create_dir_all(&committed).unwrap();
        generate(root, &committed);
        return;
    }
    let made = tempfile::tempdir().unwrap();
    generate(root, made.path());
    let (made, committed) = (contents(made.path()), contents(&committed));
    assert_eq!(
        made.keys().collect::<Vec<_>>(),
        committed.keys().collect::<Vec<_>>(),
        "run this test once with SABACC_WRITE_BINDINGS=1"
    );
    for (name, bytes) in &made {
        assert!(
            bytes == &committed[name],
            "{name} is stale: run this test once with SABACC_WRITE_BINDINGS=1"
        );
    }
    let set = prost_types::FileDescriptorSet::decode(proto_descriptors(&committed)).unwrap();
    assert!(set.file.iter().any(|file| file.name() == "sabacc/table/v1/table.proto"));
}

fn proto_descriptors(files: &BTreeMap<String, Vec<u8>>) -> &[u8] {
    &files["descriptors.bin"]
}
