//! Devices come, change and go, and so does the server.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::future::Future;
use std::task::{Context, Waker};

use jumpseat_adb::fake::{FakeAdb, FakeDevice};
use jumpseat_adb::{Change, Device, DeviceState, Tracker};
use support::{BRIEF, SOON, brief};
use tokio::time::timeout;

async fn next(tracker: &mut Tracker) -> Change {
    timeout(SOON, tracker.next()).await.expect("nothing happened").unwrap()
}

async fn arrived(tracker: &mut Tracker) -> Device {
    match next(tracker).await {
        Change::Arrived(device) => device,
        other => panic!("{other:?}"),
    }
}

async fn removed(tracker: &mut Tracker) -> Device {
    match next(tracker).await {
        Change::Removed(device) => device,
        other => panic!("{other:?}"),
    }
}

async fn changed(tracker: &mut Tracker, expected: &Device) -> Device {
    match next(tracker).await {
        Change::Changed { before, now } => {
            assert_eq!(before, *expected);
            now
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn devices_arrive_change_and_go() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").state(DeviceState::Unauthorized));
    let mut tracker = adb.server().track().await.unwrap();
    assert_eq!(tracker.devices().len(), 1, "what is there is known at once");
    let phone = arrived(&mut tracker).await;
    assert_eq!((phone.serial.as_str(), &phone.state), ("phone", &DeviceState::Unauthorized));
    adb.plug(FakeDevice::new("tablet"));
    assert_eq!(arrived(&mut tracker).await.serial, "tablet");
    adb.set_state("phone", DeviceState::Ready).await;
    let now = changed(&mut tracker, &phone).await;
    assert_eq!(now.state, DeviceState::Ready);
    adb.unplug("tablet").await;
    assert_eq!(removed(&mut tracker).await.serial, "tablet");
    assert_eq!(tracker.devices(), [now]);
}

#[tokio::test]
async fn a_reboot_is_a_removal_and_an_arrival() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone"));
    let mut tracker = adb.server().track().await.unwrap();
    let before = arrived(&mut tracker).await;
    adb.reboot("phone").await;
    assert_eq!(removed(&mut tracker).await, before);
    let after = arrived(&mut tracker).await;
    assert_eq!((after.serial.as_str(), after.transport_id), ("phone", before.transport_id + 1));
}

#[tokio::test]
async fn a_server_restart_drops_everything_and_begins_anew() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone"));
    adb.plug(FakeDevice::new("tablet"));
    let mut tracker = adb.server().track().await.unwrap();
    let (phone, tablet) = (arrived(&mut tracker).await, arrived(&mut tracker).await);
    adb.stop().await.unwrap();
    assert_eq!(removed(&mut tracker).await, phone);
    assert_eq!(removed(&mut tracker).await, tablet);
    assert_eq!(next(&mut tracker).await, Change::ServerLost);
    assert_eq!(tracker.devices(), []);
    assert!(timeout(BRIEF, tracker.next()).await.is_err(), "a server is waited for");
    // Meanwhile the phone is unplugged: its transport id is the tablet's now.
    adb.unplug("phone").await;
    adb.resume().await.unwrap();
    assert_eq!(next(&mut tracker).await, Change::ServerBack);
    let tablet = arrived(&mut tracker).await;
    assert_eq!((tablet.serial.as_str(), tablet.transport_id), ("tablet", phone.transport_id));
    adb.unplug("tablet").await;
    assert_eq!(removed(&mut tracker).await, tablet);
}

#[tokio::test]
async fn a_device_that_goes_offline_unannounced_is_noticed() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("10.77.1.2:5555"));
    let mut tracker = adb.server().track().await.unwrap();
    let before = arrived(&mut tracker).await;
    adb.set_state_unannounced("10.77.1.2:5555", DeviceState::Offline).await;
    let now = changed(&mut tracker, &before).await;
    assert_eq!(now.state, DeviceState::Offline);
    adb.set_state("10.77.1.2:5555", DeviceState::Ready).await;
    assert_eq!(changed(&mut tracker, &now).await, before);
}

#[tokio::test]
async fn who_stops_waiting_loses_nothing() {
    let adb = FakeAdb::start().await.unwrap();
    let mut tracker = adb.server().track().await.unwrap();
    for serial in ["phone", "tablet", "watch"] {
        let mut waiting = Box::pin(tracker.next());
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(waiting);
        adb.plug(FakeDevice::new(serial));
        assert_eq!(arrived(&mut tracker).await.serial, serial);
    }
}

#[tokio::test]
async fn a_silent_server_is_an_error_and_the_tracker_goes_on() {
    let adb = FakeAdb::start().await.unwrap();
    let mut tracker = adb.server().with_deadlines(brief()).track().await.unwrap();
    adb.hold();
    let error = timeout(SOON, tracker.next()).await.unwrap().unwrap_err();
    assert_eq!(error.code(), "timeout", "{error}");
    adb.release();
    adb.plug(FakeDevice::new("phone"));
    assert_eq!(arrived(&mut tracker).await.serial, "phone");
}

#[tokio::test]
async fn without_a_server_there_is_no_tracker() {
    let adb = FakeAdb::start().await.unwrap();
    adb.stop().await.unwrap();
    assert_eq!(adb.server().track().await.unwrap_err().code(), "adb-server-unreachable");
}
