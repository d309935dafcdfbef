//! What the server knows, and the tasks that it runs. It reads and writes no sockets.

use std::fmt::Write;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpSocket;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::device::{FakeDevice, Service};
use super::forwards::{self, Listener};
use crate::device::DeviceState;

/// What the server's tasks share.
pub(super) type Server = Arc<Shared>;

#[derive(Debug)]
pub(super) struct Shared {
    /// The port of the server itself.
    pub(super) port: u16,
    state: Mutex<State>,
    tasks: Mutex<JoinSet<()>>,
    /// Counts the lists of devices that trackers get.
    pub(super) announced: watch::Sender<u64>,
    /// Whether requests are answered later.
    pub(super) held: watch::Sender<bool>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) version: u32,
    last_transport_id: u64,
    pub(super) devices: Vec<Attached>,
    pub(super) forwards: Vec<Listener>,
    pub(super) requests: Vec<String>,
    /// What keeps the port while the server is stopped.
    pub(super) reserved: Option<TcpSocket>,
}

/// A device that is connected.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) transport_id: u64,
    pub(super) device: FakeDevice,
    /// Its streams end when this is dropped.
    pub(super) alive: watch::Sender<()>,
}

/// What was disconnected.
pub(super) struct Detached {
    pub(super) devices: Vec<FakeDevice>,
    pub(super) forwards: Vec<Listener>,
}

impl Shared {
    pub(super) fn new(port: u16) -> Self {
        let state = State {
            version: 41,
            last_transport_id: 0,
            devices: Vec::new(),
            forwards: Vec::new(),
            requests: Vec::new(),
            reserved: None,
        };
        Self {
            port,
            state: Mutex::new(state),
            tasks: Mutex::default(),
            announced: watch::Sender::new(0),
            held: watch::Sender::new(false),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task until the server stops.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Sends the list of devices to who tracks them.
    pub(super) fn announce(&self) {
        self.announced.send_modify(|count| *count += 1);
    }

    pub(super) async fn stop(&self) {
        // A task that is being ended may have begun another one.
        loop {
            let mut tasks = std::mem::take(&mut *self.tasks());
            if tasks.is_empty() {
                break;
            }
            tasks.shutdown().await;
        }
        let ended = std::mem::take(&mut self.state().forwards);
        forwards::end(ended).await;
    }

    pub(super) fn abort(&self) {
        self.tasks().abort_all();
        for listener in &self.state().forwards {
            listener.task.abort();
        }
    }
}

impl State {
    pub(super) fn attach(&mut self, device: FakeDevice) {
        self.last_transport_id += 1;
        let (transport_id, alive) = (self.last_transport_id, watch::Sender::new(()));
        self.devices.push(Attached { transport_id, device, alive });
    }

    #[must_use]
    pub(super) fn detach(&mut self, serial: &str) -> Detached {
        let (gone, stay) = self.devices.drain(..).partition(|attached| attached.device.serial == serial);
        let gone: Vec<Attached> = gone;
        self.devices = stay;
        let forwards = gone.iter().flat_map(|attached| self.take_forwards(attached.transport_id)).collect();
        Detached { devices: gone.into_iter().map(|attached| attached.device).collect(), forwards }
    }

    /// Sets the state, and gives the forwards that it ends.
    #[must_use]
    pub(super) fn set_state(&mut self, serial: &str, state: &DeviceState) -> Vec<Listener> {
        let mut ids = Vec::new();
        for attached in self.devices_mut(serial) {
            attached.device.state = state.clone();
            if *state != DeviceState::Ready {
                attached.alive = watch::Sender::new(());
                ids.push(attached.transport_id);
            }
        }
        ids.into_iter().flat_map(|id| self.take_forwards(id)).collect()
    }

    /// Connects the devices to the server anew.
    pub(super) fn renumber(&mut self) {
        self.last_transport_id = 0;
        for attached in std::mem::take(&mut self.devices) {
            self.attach(attached.device);
        }
    }

    #[must_use]
    fn take_forwards(&mut self, transport_id: u64) -> Vec<Listener> {
        self.forwards.extract_if(.., |listener| listener.transport_id == transport_id).collect()
    }

    pub(super) fn devices_mut<'s>(&'s mut self, serial: &'s str) -> impl Iterator<Item = &'s mut Attached> {
        self.devices.iter_mut().filter(move |attached| attached.device.serial == serial)
    }

    /// The list that `devices-l` gives.
    pub(super) fn list(&self) -> String {
        let mut list = String::new();
        for Attached { transport_id, device, .. } in &self.devices {
            let (serial, state, details) = (&device.serial, &device.state, device.details());
            // Writing to a string cannot fail.
            let _ = writeln!(list, "{serial:<22} {state}{details} transport_id:{transport_id}");
        }
        list
    }

    /// What listens at an endpoint of a device, and what ends when the device goes.
    pub(super) fn service(
        &self,
        transport_id: u64,
        endpoint: &str,
    ) -> Option<(Service, watch::Receiver<()>)> {
        let attached = self.devices.iter().find(|attached| attached.transport_id == transport_id)?;
        let service = attached.device.services.get(endpoint)?.clone();
        Some((service, attached.alive.subscribe()))
    }
}

/// A device that a request names.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Serial(String),
    TransportId(u64),
}

impl State {
    /// The transport id of a device that can be used, or adb's words why there is none.
    pub(super) fn acquire(&self, target: &Target) -> Result<u64, String> {
        let matching: Vec<&Attached> = self
            .devices
            .iter()
            .filter(|attached| match target {
                Target::Serial(serial) => attached.device.serial == *serial,
                Target::TransportId(id) => attached.transport_id == *id,
            })
            .collect();
        let [attached] = matching.as_slice() else {
            return Err(match (matching.is_empty(), target) {
                (false, _) => "more than one device".to_owned(),
                (true, Target::Serial(serial)) => format!("device '{serial}' not found"),
                (true, Target::TransportId(id)) => format!("no device with transport id '{id}'"),
            });
        };
        match &attached.device.state {
            DeviceState::Ready => Ok(attached.transport_id),
            DeviceState::NoPermissions(_) => Err("insufficient permissions for device".to_owned()),
            state => Err(format!("device {state}")),
        }
    }
}
