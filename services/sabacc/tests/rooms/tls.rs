//! A public room uses TLS; its own clients use a port on loopback.

use rcgen::{CertificateParams, KeyPair};
use rustix::process::Signal;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::RoomHarness;
use crate::people::until_demo_hand;

async fn healthy(endpoint: Endpoint) -> Result<(), Box<dyn std::error::Error>> {
    let channel: Channel = endpoint.connect().await?;
    HealthClient::new(channel).check(HealthCheckRequest::default()).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_with_a_certificate_speaks_tls_to_the_world() {
    let harness = RoomHarness::new();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    let path = |name: &str| harness.path().join(name).display().to_string();
    std::fs::write(path("room.crt"), &pem).unwrap();
    std::fs::write(path("room.key"), key.serialize_pem()).unwrap();
    let (certificate, key) = (path("room.crt"), path("room.key"));
    let variables =
        [("SABACC_TLS_CERTIFICATE", certificate.as_str()), ("SABACC_TLS_KEY", key.as_str())];
    let mut room = harness.up_with(&["--listen", "0.0.0.0:0"], &variables).await;
    until_demo_hand(&harness, &room.url, 1).await;
    let said = room.running.output();
    let public = said.split("https://0.0.0.0:").nth(1).expect("a public port with TLS");
    let port: u16 = public.split_whitespace().next().unwrap().parse().unwrap();
    let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&pem));
    let endpoint = Endpoint::from_shared(format!("https://localhost:{port}")).unwrap();
    healthy(endpoint.tls_config(tls).unwrap()).await.unwrap();
    let plain = Endpoint::from_shared(format!("http://localhost:{port}")).unwrap();
    assert!(healthy(plain).await.is_err(), "nobody is answered without TLS");
    assert!(room.url.starts_with("http://127.0.0.1:") && !room.url.ends_with(&port.to_string()));
    room.running.stop(Signal::INT).await;

    // Half of a key pair is refused before anything is started.
    let mut command = harness.sabacc(&["up", "--listen", "127.0.0.1:0"]);
    command.env("SABACC_TLS_CERTIFICATE", &certificate);
    let (status, said) = harness.run(command).await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("needs its key"), "{said}");
}
