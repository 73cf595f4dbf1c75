//! Orderly stop of a server.

use std::time::Duration;

use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::echo::{Room, Setting, call, text, ticks};

#[tokio::test]
async fn an_open_stream_says_good_bye_and_a_call_is_finished() {
    let room = Room::open(Setting::default()).await;
    let channel = room.channel();
    let mut stream = ticks(&channel).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "tick");
    let slow = channel.clone();
    let slow = tokio::spawn(async move { call(&slow, "Operate", text("sleep 300")).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    room.drain.begin();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "bye");
    assert!(stream.message().await.unwrap().is_none());
    assert!(slow.await.unwrap().is_ok());
    drop(channel);
    assert!(room.served.await.unwrap(), "nobody was cut off");
    assert!(tokio::net::TcpStream::connect(room.bound).await.is_err(), "the port is closed");
}

#[tokio::test]
async fn whoever_does_not_stop_is_cut_off() {
    let grace = Duration::from_millis(200);
    let room = Room::open(Setting { grace, watches: false, ..Setting::default() }).await;
    let channel = room.channel();
    let mut stream = ticks(&channel).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().text, "tick");
    room.drain.begin();
    assert!(!room.served.await.unwrap(), "somebody was cut off");
    assert!(stream.message().await.is_err());
}

#[tokio::test]
async fn health_says_so_first_and_lets_its_watchers_go() {
    let room = Room::open(Setting::default()).await;
    let mut health = HealthClient::new(room.plain());
    let request = HealthCheckRequest { service: "chassis.test.v1.EchoService".into() };
    let mut watch = health.watch(request).await.unwrap().into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status, 1, "SERVING");
    room.drain.begin();
    assert_eq!(watch.message().await.unwrap().unwrap().status, 2, "NOT_SERVING");
    assert!(watch.message().await.unwrap().is_none());
    drop(health);
    assert!(room.served.await.unwrap());
}

#[tokio::test]
async fn a_channel_finds_a_server_that_comes_back() {
    let room = Room::open(Setting::default()).await;
    let channel = room.channel();
    call(&channel, "Operate", text("hello")).await.unwrap();
    let (address, issuer) = (room.bound, room.issuer.clone());
    room.drain.begin();
    room.served.await.unwrap();
    assert!(call(&channel, "Operate", text("hello")).await.is_err());

    let bound = chassis::serve::bind(address).await.unwrap();
    let (health, limits) = (chassis::serve::Health::new(), chassis::limits::Limits::internal());
    let app =
        crate::echo::app(&health, &limits, &issuer, crate::echo::Echo { stopping: None }, None);
    let app = app.await;
    let drain = chassis::drain::Drain::new(Duration::from_secs(1));
    tokio::spawn(chassis::serve::Server::new(limits, health, drain).run(bound, app));
    call(&channel, "Operate", text("hello")).await.unwrap();
}
