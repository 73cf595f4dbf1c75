//! Programs that others wrote: `curl` over HTTP/1.1 and HTTP/2, and `buf curl`, which knows the
//! services by reflection alone.

use std::process::Stdio;

use chassis::auth::Role;
use serde_json::Value;
use tokio::process::Command;

use crate::harness::Gateway;
use crate::methods::described;

/// Whether a program is here. Where none may be missing (`REQUIRE_ALL_VERIFIERS`), it must be.
#[expect(clippy::print_stdout, reason = "what is not checked is said")]
async fn is_here(program: &str, get_it: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).status().await;
    if version.is_ok_and(|status| status.success()) {
        return true;
    }
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let all = std::env::var_os("REQUIRE_ALL_VERIFIERS").is_some();
    assert!(!all, "`{program}` is not here: {get_it}");
    println!("not checked: `{program}` is not here: {get_it}");
    false
}

const GET_BUF: &str = "python3 -m venv tools && tools/bin/pip install --no-deps -r \
                       .ci/requirements.txt, and tools/bin on the PATH";
const GET_CURL: &str = "install curl with HTTP/2 from your system's packages";

/// Runs a program. Returns whether it succeeded, with what it wrote.
async fn run(program: &str, arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(program).args(arguments).output().await.unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn buf_curl_finds_and_calls_everything_by_reflection_in_each_protocol() {
    if !is_here("buf", GET_BUF).await {
        return;
    }
    let gateway = Gateway::open().await;
    let token = format!("authorization: Bearer {}", gateway.token(Role::Player));
    let methods = described(&gateway).await;
    for protocol in ["grpc", "grpcweb", "connect"] {
        let http2 = ["curl", "--http2-prior-knowledge", "--protocol", protocol];
        let url = gateway.url();
        let (listed, services, errors) =
            run("buf", &[&http2[..], &["--list-services", &url]].concat()).await;
        assert!(listed, "{protocol}: {errors}");
        for method in &methods {
            let name = method.parent_service().full_name().to_owned();
            assert!(services.contains(&name), "{protocol}: {name} is not in {services}");
        }
        assert!(!services.contains("SettlementService") && !services.contains("Dealer"));
        let call = async |path: &str, headers: &[&str]| {
            let url = format!("{url}/{path}");
            let headers: Vec<&str> =
                headers.iter().flat_map(|header| ["--header", header]).collect();
            let tail = ["--data", "{}", &*url];
            run("buf", &[&http2[..], &headers, &tail].concat()).await
        };
        let path = "sabacc.wallet.v1.WalletService/GetAccount";
        let (succeeded, answer, errors) = call(path, &[&token]).await;
        assert!(succeeded && answer.trim() == "{}", "{protocol}: {answer} {errors}");
        let path = "sabacc.table.v1.TableService/WatchTable";
        let (succeeded, answer, errors) = call(path, &[&token]).await;
        assert!(succeeded && answer.contains("{}"), "{protocol}: {answer} {errors}");
        let path = "sabacc.table.v1.TableService/Play";
        let (succeeded, answer, errors) = call(path, &[&token]).await;
        assert!(succeeded && answer.contains("{}"), "{protocol}: {answer} {errors}");
        let (succeeded, _, errors) = call(path, &[]).await;
        assert!(!succeeded && errors.contains("unauthenticated"), "{protocol}: {errors}");
        let (succeeded, answer, errors) = call("grpc.health.v1.Health/Check", &[]).await;
        assert!(succeeded && answer.contains("SERVING"), "{protocol}: {answer} {errors}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_calls_over_both_versions_and_gets_every_refusal() {
    if !is_here("curl", GET_CURL).await {
        return;
    }
    let gateway = Gateway::open().await;
    let url = format!("{}/sabacc.wallet.v1.WalletService/GetAccount", gateway.url());
    let noise = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("noise");
    std::fs::write(&noise, vec![b'7'; 1 << 20]).unwrap();
    let noise = format!("@{}", noise.display());
    let token = format!("authorization: Bearer {}", gateway.token(Role::Player));
    let json = "content-type: application/json";
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        let common = ["--silent", "--show-error", "--max-time", "20", version, "--header", json];
        let ask = async |more: &[&str]| run("curl", &[&common, more, &[&*url]].concat()).await;
        let (_, answer, errors) = ask(&["--header", &token, "--data", "{}"]).await;
        assert_eq!(answer, "{}", "{version}: {errors}");
        for turn in 0..20 {
            for (header, reason) in [(&*token, "MESSAGE_TOO_LONG"), ("x-none: x", "TOKEN_MISSING")]
            {
                let (succeeded, answer, errors) =
                    ask(&["--header", header, "--data-binary", &noise]).await;
                assert!(succeeded, "{version} {reason} {turn}: {answer:?} {errors}");
                let answer: Value = serde_json::from_str(&answer).unwrap();
                assert_eq!(answer["details"][0]["debug"]["reason"], reason, "{version}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_paths_are_still_read_with_a_get() {
    let gateway = Gateway::open().await;
    let get = async |path: &str| {
        let request = http::Request::get(path).body(http_body_util::Full::default()).unwrap();
        let answer = gateway.send(request).await;
        (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
    };
    assert_eq!(get("/healthz").await, (200, "alive\n".into()));
    let (status, page) = get("/verify.html").await;
    assert!(status == 200 && page.contains("<html"), "{status}");
    let (status, words) = get("/nowhere").await;
    assert!(status == 404 && words.contains("/api.json"), "{status} {words}");
    let (status, words) = get("/sabacc.table.v1.TableService/Act").await;
    assert!(status == 405 && words.contains("POST"), "{status} {words}");
}
