//! When the server starts and stops with the app: one pure function, and nothing that acts.

/// What the server does when the app starts, stops and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifecycleConfig {
    /// `autoStartOnAppStart`: start the server when the app starts. True.
    pub auto_start_on_app_start: bool,
    /// `autoStopOnAppStop`: stop the server when the app goes to the background. False: it keeps running.
    pub auto_stop_on_app_stop: bool,
    /// `restartOnAppReturn`: have the server run when the app comes back to the foreground. True.
    pub restart_on_app_return: bool,
}

impl Default for LifecycleConfig {
    fn default() -> Self {
        Self { auto_start_on_app_start: true, auto_stop_on_app_stop: false, restart_on_app_return: true }
    }
}

/// What happened to the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// The app started.
    Start,
    /// The app went to the background.
    Stop,
    /// The app came back to the foreground.
    Return,
}

/// What to do about an [`AppEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleAction {
    /// Nothing.
    None,
    /// Start the server.
    Start,
    /// Stop the server.
    Stop,
    /// See whether the listeners still accept, and bind them anew when they do not: iOS takes the sockets of
    /// a suspended app away.
    Check,
}

/// What follows from an event, given the flags and whether the server runs.
pub fn lifecycle_action(config: LifecycleConfig, running: bool, event: AppEvent) -> LifecycleAction {
    match (event, running) {
        (AppEvent::Start, false) if config.auto_start_on_app_start => LifecycleAction::Start,
        (AppEvent::Stop, true) if config.auto_stop_on_app_stop => LifecycleAction::Stop,
        (AppEvent::Return, false) if config.restart_on_app_return => LifecycleAction::Start,
        (AppEvent::Return, true) if config.restart_on_app_return => LifecycleAction::Check,
        _ => LifecycleAction::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_flags_state_and_event() {
        use LifecycleAction::{Check, None, Start, Stop};
        let on = LifecycleConfig {
            auto_start_on_app_start: true,
            auto_stop_on_app_stop: true,
            restart_on_app_return: true,
        };
        let off = LifecycleConfig {
            auto_start_on_app_start: false,
            auto_stop_on_app_stop: false,
            restart_on_app_return: false,
        };
        for (event, running, when_on, by_default) in [
            (AppEvent::Start, false, Start, Start),
            (AppEvent::Start, true, None, None),
            (AppEvent::Stop, false, None, None),
            (AppEvent::Stop, true, Stop, None),
            (AppEvent::Return, false, Start, Start),
            (AppEvent::Return, true, Check, Check),
        ] {
            assert_eq!(lifecycle_action(on, running, event), when_on, "{event:?}, running: {running}");
            assert_eq!(lifecycle_action(LifecycleConfig::default(), running, event), by_default);
            assert_eq!(lifecycle_action(off, running, event), None);
        }
    }
}
