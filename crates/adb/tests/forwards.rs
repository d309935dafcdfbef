//! Forwards: made, taken, stolen, ended and removed.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat_adb::fake::{FakeAdb, FakeDevice, Service};
use jumpseat_adb::{DeviceState, Endpoint, Error, Forward, Holder, Reverse, first_answer};
use support::{BRIEF, SOON, UnusedPort, device};
use tokio::net::{TcpListener, TcpStream};

const ANY: Endpoint = Endpoint::Tcp(0);
const APP: Endpoint = Endpoint::Tcp(8080);

async fn with_phone() -> FakeAdb {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").service("tcp:8080", Service::echo()));
    adb
}

async fn dial(local: &Endpoint) -> TcpStream {
    let Endpoint::Tcp(port) = local else { panic!("{local}") };
    TcpStream::connect(("127.0.0.1", *port)).await.unwrap()
}

#[tokio::test]
async fn a_forward_leads_to_the_app() {
    let adb = with_phone().await;
    let phone = device(&adb, "phone").await;
    let forward = adb.server().add_forward(&phone, &ANY, &APP).await.unwrap();
    assert_ne!(forward.local, ANY);
    assert_eq!(first_answer(&mut dial(&forward.local).await, b"hello", SOON).await.unwrap(), b"hello");
    assert_eq!(adb.server().forwards().await.unwrap(), [forward]);
}

#[tokio::test]
async fn an_abstract_socket_is_forwarded_likewise() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").service("localabstract:app", Service::echo()));
    let (phone, app) = (device(&adb, "phone").await, Endpoint::LocalAbstract("app".into()));
    let port = Endpoint::Tcp(UnusedPort::bind().number());
    let forward = adb.server().add_forward(&phone, &port, &app).await.unwrap();
    assert_eq!(forward, Forward { serial: "phone".into(), local: port, remote: app });
    assert_eq!(first_answer(&mut dial(&forward.local).await, b"hello", SOON).await.unwrap(), b"hello");
}

#[tokio::test]
async fn two_devices_have_the_same_port_on_different_ones() {
    let adb = FakeAdb::start().await.unwrap();
    for serial in ["10.77.1.2:5555", "10.77.2.2:5555"] {
        let name = Service::handler(move |mut stream| async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            stream.read_u8().await.unwrap();
            stream.write_all(serial.as_bytes()).await.unwrap();
        });
        adb.plug(FakeDevice::new(serial).service("tcp:8080", name));
    }
    for device in adb.server().devices().await.unwrap() {
        let forward = adb.server().add_forward(&device, &ANY, &APP).await.unwrap();
        let answer = first_answer(&mut dial(&forward.local).await, b"?", SOON).await.unwrap();
        assert_eq!(answer, device.serial.as_bytes());
    }
}

#[tokio::test]
async fn a_taken_port_names_the_forward_that_has_it() {
    let adb = with_phone().await;
    adb.plug(FakeDevice::new("tablet"));
    let first = adb.server().add_forward(&device(&adb, "tablet").await, &ANY, &APP).await.unwrap();
    let phone = device(&adb, "phone").await;
    let error = adb.server().add_forward(&phone, &first.local, &APP).await.unwrap_err();
    assert!(matches!(&error, Error::PortTaken { holder: Holder::Forward(holder), .. } if *holder == first));
    assert!(error.to_string().contains("forwarded to tcp:8080 of tablet"), "{error}");
    assert_eq!(adb.forwards(), [first], "the holder keeps it");
}

#[tokio::test]
async fn a_port_that_another_program_has_is_told_apart() {
    let adb = with_phone().await;
    let phone = device(&adb, "phone").await;
    let program = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = Endpoint::Tcp(program.local_addr().unwrap().port());
    let error = adb.server().add_forward(&phone, &port, &APP).await.unwrap_err();
    assert!(matches!(error, Error::PortTaken { holder: Holder::Program, .. }), "{error}");
    let jumpseat_adb::ServerAddress::Tcp { port, .. } = adb.address() else { panic!() };
    let error = adb.server().add_forward(&phone, &Endpoint::Tcp(port), &APP).await.unwrap_err();
    assert!(matches!(error, Error::PortTaken { holder: Holder::AdbServer, .. }), "{error}");
}

#[tokio::test]
async fn a_stolen_forward_is_noticed_and_left_to_the_thief() {
    let adb = with_phone().await;
    adb.plug(FakeDevice::new("tablet"));
    let ours = adb.server().add_forward(&device(&adb, "phone").await, &ANY, &APP).await.unwrap();
    let tablet = device(&adb, "tablet").await;
    let theirs = adb.server().replace_forward(&tablet, &ours.local, &Endpoint::Tcp(9000)).await.unwrap();
    let error = first_answer(&mut dial(&ours.local).await, b"hello", SOON).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error}");
    let error = adb.server().remove_forward(&ours).await.unwrap_err();
    assert!(matches!(&error, Error::ForwardTaken { holder } if *holder == theirs), "{error}");
    assert!(error.to_string().contains("tcp:9000 of tablet"), "{error}");
    assert_eq!(adb.forwards(), [theirs]);
}

#[tokio::test]
async fn nothing_dead_and_frozen_are_told_apart_from_alive() {
    let adb = with_phone().await;
    let phone = device(&adb, "phone").await;
    let forward = adb.server().add_forward(&phone, &ANY, &APP).await.unwrap();
    let answer = async || first_answer(&mut dial(&forward.local).await, b"hello", SOON).await;
    answer().await.unwrap();
    adb.remove_service("phone", &APP);
    let error = answer().await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error}");
    assert!(error.hint().contains("start the app"));
    adb.set_service("phone", &APP, &Service::frozen());
    let error = first_answer(&mut dial(&forward.local).await, b"hello", BRIEF).await.unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error}");
    assert!(error.hint().contains("foreground"));
    adb.set_service("phone", &APP, &Service::echo());
    answer().await.unwrap();
}

#[tokio::test]
async fn forwards_end_with_the_device_and_with_the_server() {
    let adb = with_phone().await;
    let add = async || {
        let phone = device(&adb, "phone").await;
        let forward = adb.server().add_forward(&phone, &ANY, &APP).await.unwrap();
        (dial(&forward.local).await, forward)
    };
    let ended = async |(mut stream, forward): (TcpStream, Forward)| {
        let error = first_answer(&mut stream, b"hello", SOON).await.unwrap_err();
        assert!(matches!(error, Error::Unanswered { .. }), "{error}");
        assert_eq!(adb.server().forwards().await.unwrap(), []);
        let error = adb.server().remove_forward(&forward).await.unwrap_err();
        assert!(matches!(error, Error::NotForwarded { .. }), "{error}");
    };
    let made = add().await;
    adb.reboot("phone").await;
    ended(made).await;
    let made = add().await;
    adb.set_state("phone", DeviceState::Offline).await;
    ended(made).await;
    adb.set_state("phone", DeviceState::Ready).await;
    let made = add().await;
    adb.stop().await.unwrap();
    adb.resume().await.unwrap();
    ended(made).await;
}

#[tokio::test]
async fn a_device_that_cannot_be_used_gets_no_forward() {
    let adb = with_phone().await;
    let phone = device(&adb, "phone").await;
    adb.set_state("phone", DeviceState::Unauthorized).await;
    let error = adb.server().add_forward(&phone, &ANY, &APP).await.unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    adb.unplug("phone").await;
    let error = adb.server().add_forward(&phone, &ANY, &APP).await.unwrap_err();
    assert!(matches!(error, Error::UnknownDevice { .. }), "{error}");
}

#[tokio::test]
async fn one_forward_is_removed_and_the_others_stay() {
    let adb = with_phone().await;
    adb.plug(FakeDevice::new("tablet"));
    let ours = adb.server().add_forward(&device(&adb, "phone").await, &ANY, &APP).await.unwrap();
    let theirs = adb.server().add_forward(&device(&adb, "tablet").await, &ANY, &APP).await.unwrap();
    adb.server().remove_forward(&ours).await.unwrap();
    assert_eq!(adb.server().forwards().await.unwrap(), [theirs]);
    let error = adb.server().remove_forward(&ours).await.unwrap_err();
    assert!(matches!(error, Error::NotForwarded { .. }), "{error}");
    assert!(adb.requests().iter().all(|request| !request.contains("killforward-all")));
}

#[tokio::test]
async fn all_forwards_are_removed_only_on_demand() {
    let adb = with_phone().await;
    let phone = device(&adb, "phone").await;
    let forward = adb.server().add_forward(&phone, &ANY, &APP).await.unwrap();
    adb.server().add_forward(&phone, &ANY, &APP).await.unwrap();
    adb.server().remove_all_forwards().await.unwrap();
    assert_eq!(adb.server().forwards().await.unwrap(), []);
    // The port is free again.
    adb.server().add_forward(&phone, &forward.local, &APP).await.unwrap();
}

#[tokio::test]
async fn devices_with_one_serial_get_forwards_of_their_own() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("0123"));
    adb.plug(FakeDevice::new("0123").service("tcp:8080", Service::echo()));
    let devices = adb.server().devices().await.unwrap();
    let forward = adb.server().add_forward(&devices[1], &ANY, &APP).await.unwrap();
    assert_eq!(first_answer(&mut dial(&forward.local).await, b"hello", SOON).await.unwrap(), b"hello");
    adb.server().remove_forward(&forward).await.unwrap();
    assert_eq!(adb.forwards(), []);
}

#[tokio::test]
async fn what_adb_cannot_take_is_not_sent() {
    let adb = with_phone().await;
    let phone = device(&adb, "phone").await;
    let sent = adb.requests().len();
    let name = Endpoint::LocalAbstract("a;b".into());
    let error = adb.server().add_forward(&phone, &ANY, &name).await.unwrap_err();
    assert_eq!(error.code(), "invalid-endpoint", "{error}");
    assert_eq!(adb.requests().len(), sent);
}

#[tokio::test]
async fn reverse_forwards_are_listed() {
    let adb = FakeAdb::start().await.unwrap();
    let expected = Reverse { device: Endpoint::Tcp(9001), host: Endpoint::Tcp(9002) };
    adb.plug(FakeDevice::new("phone").reverse(expected.device.clone(), expected.host.clone()));
    let phone = device(&adb, "phone").await;
    assert_eq!(adb.server().reverses(&phone).await.unwrap(), [expected]);
}
