//! Certificates on both ends.

use std::sync::Arc;

use chassis::channel::{self, CredentialInterceptor};
use chassis::serve::Server;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use system::secret::Secret;
use transport::tls::{Tls, TlsError};

use crate::echo::{Room, Setting, call, text};

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    fn certify(&self, name: &str) -> (String, Secret) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), Secret::new(key.serialize_pem()))
    }
}

#[tokio::test]
async fn only_who_shows_a_certificate_of_the_authority_gets_in() {
    let (ours, other) = (Authority::new(), Authority::new());
    let shown = Tls::new(Some(ours.certify("localhost")), Some(ours.pem.clone()));
    let acceptor = shown.acceptor(false).unwrap();
    let room = Room::open(Setting::default()).await;
    // The fixture's port is without TLS, so another one is served with certificates for the same
    // issuer.
    let bound = chassis::serve::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let uri = format!("https://localhost:{}", bound.address().port()).parse().unwrap();
    let (health, limits) = (chassis::serve::Health::new(), chassis::limits::Limits::internal());
    let echo = crate::echo::Echo { stopping: None };
    let app = crate::echo::app(&health, &limits, &room.issuer, echo, None).await;
    let mut server = Server::new(limits, health, room.drain.clone());
    server.tls = Some(acceptor);
    tokio::spawn(server.run(bound, app));

    let try_with = |tls: Tls| {
        let token = chassis::auth::ServiceToken::new(
            room.issuer.clone(),
            "test",
            Arc::new(system::clock::SystemClock::new()),
            Arc::new(system::entropy::SystemEntropy),
        );
        let channel =
            channel::connect_lazy(&uri, Some(&tls), CredentialInterceptor::OwnToken(token))
                .unwrap();
        async move { call(&channel, "Operate", text("hello")).await }
    };
    let believed = || Some(ours.pem.clone());
    assert!(try_with(Tls::new(Some(ours.certify("test")), believed())).await.is_ok());
    // A stolen token: it comes with the certificate of another service.
    let taken = try_with(Tls::new(Some(ours.certify("table")), believed())).await.unwrap_err();
    assert_eq!(taken.code(), tonic::Code::PermissionDenied, "{taken}");
    assert!(try_with(Tls::new(None, believed())).await.is_err(), "no certificate");
    let strangers = Tls::new(Some(other.certify("test")), believed());
    assert!(try_with(strangers).await.is_err(), "a certificate of somebody else");
    let mistrusting = Tls::new(Some(ours.certify("test")), Some(other.pem.clone()));
    assert!(try_with(mistrusting).await.is_err(), "a server that we do not believe");
}

#[test]
fn a_server_without_a_usable_certificate_does_not_start() {
    let authority = Authority::new();
    let nothing = Tls::new(None, Some(authority.pem.clone()));
    assert!(matches!(nothing.acceptor(false), Err(TlsError::NothingToShow)));
    let (_, key) = authority.certify("localhost");
    let (certificate, _) = authority.certify("localhost");
    let mixed = Tls::new(Some((certificate.clone(), key)), None);
    assert!(matches!(mixed.acceptor(false), Err(TlsError::Unusable(_))));
    let no_pem = Tls::new(Some((certificate, Secret::new("no key".into()))), None);
    assert!(matches!(no_pem.acceptor(true), Err(TlsError::NotPem { .. })));
    assert!(!format!("{no_pem:?}").contains("no key"));
}
