//! Readiness of a server, and the conditions that are not met.
//!
//! A server is ready if all its conditions are met: its log is owned and written, its peers are
//! ready. A process that is alive and not ready should be waited for, not restarted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Conditions of one server. Cheap to clone; clones share their state.
#[derive(Clone, Debug)]
pub struct Readiness {
    unmet: Arc<Mutex<BTreeMap<Arc<str>, String>>>,
    changed: watch::Sender<bool>,
    /// Name of the condition that another process meets because it does this one's work.
    met_elsewhere: watch::Sender<Option<Arc<str>>>,
}

/// One condition of a server's readiness. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Condition {
    name: Arc<str>,
    readiness: Readiness,
}

impl Default for Readiness {
    fn default() -> Readiness {
        let (changed, elsewhere) = (watch::Sender::new(true), watch::Sender::new(None));
        Readiness { unmet: Arc::default(), changed, met_elsewhere: elsewhere }
    }
}

impl Readiness {
    /// Adds a condition that is not met yet for the reason `why`.
    #[must_use]
    pub fn condition(&self, name: &str, why: &str) -> Condition {
        let condition = Condition { name: name.into(), readiness: self.clone() };
        condition.set_unmet(why);
        condition
    }

    /// Lines for the conditions that are not met; empty if the server is ready.
    #[must_use]
    pub fn unmet_conditions(&self) -> Vec<String> {
        let unmet = self.unmet.lock().unwrap_or_else(PoisonError::into_inner);
        unmet.iter().map(|(name, why)| format!("{name}: {why}")).collect()
    }

    /// Receiver of whether the server is ready.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.changed.subscribe()
    }

    /// Receiver of the condition that another process meets. Callers with older connections should
    /// reconnect, so that a load balancer sends them to that process.
    #[must_use]
    pub fn met_elsewhere(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.met_elsewhere.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<Arc<str>, String>)) {
        let mut unmet = self.unmet.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut unmet);
        let ready = unmet.is_empty();
        self.changed.send_if_modified(|before| std::mem::replace(before, ready) != ready);
    }
}

impl Condition {
    pub fn set_met(&self) {
        self.readiness.change(|unmet| drop(unmet.remove(&self.name)));
        let ours = |by: &mut Option<Arc<str>>| by.take_if(|name| *name == self.name).is_some();
        self.readiness.met_elsewhere.send_if_modified(ours);
    }

    /// Reports the condition as not met, since another process does the work.
    pub fn set_met_elsewhere(&self, why: &str) {
        self.set_unmet(why);
        self.readiness.met_elsewhere.send_if_modified(|by| by.replace(self.name.clone()).is_none());
    }

    pub fn set_unmet(&self, why: &str) {
        self.readiness.change(|unmet| drop(unmet.insert(self.name.clone(), why.to_owned())));
    }

    /// Keeps the condition equal to a value until its sender is gone. `why` is the reason while it
    /// is false.
    pub async fn follow(self, mut value: watch::Receiver<bool>, why: &str) {
        loop {
            let is_met = *value.borrow_and_update();
            self.set((!is_met).then_some(why));
            if value.changed().await.is_err() {
                return;
            }
        }
    }

    /// Reports the condition as met, or as not met for a reason.
    pub fn set(&self, unmet_reason: Option<&str>) {
        match unmet_reason {
            None => self.set_met(),
            Some(why) => self.set_unmet(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_ready_where_every_condition_is_met() {
        let readiness = Readiness::default();
        assert!(*readiness.watch().borrow());
        let log = readiness.condition("log", "it is being opened");
        let wallet = readiness.condition("wallet", "it was not asked yet");
        let watch = readiness.watch();
        assert_eq!(
            readiness.unmet_conditions(),
            ["log: it is being opened", "wallet: it was not asked yet"]
        );
        log.set_met();
        assert!(!*watch.borrow());
        wallet.set(None);
        assert!(*watch.borrow() && readiness.unmet_conditions().is_empty());
        log.set_unmet("it is lost");
        assert!(!*watch.borrow());
        assert_eq!(readiness.unmet_conditions(), ["log: it is lost"]);
    }

    #[test]
    fn another_process_does_the_work_until_this_one_does() {
        let readiness = Readiness::default();
        let (log, peer) = (readiness.condition("log", "no"), readiness.condition("peer", "no"));
        let mut elsewhere = readiness.met_elsewhere();
        for _ in 0..2 {
            log.set_met_elsewhere("standby: it is owned by another");
            assert!(elsewhere.has_changed().unwrap() && elsewhere.borrow_and_update().is_some());
            log.set_met_elsewhere("standby: it is owned by another");
            peer.set_met();
            assert!(!elsewhere.has_changed().unwrap(), "it is told once");
            log.set_met();
            assert!(elsewhere.borrow_and_update().is_none());
        }
    }

    #[tokio::test]
    async fn a_condition_follows_a_value() {
        let readiness = Readiness::default();
        let (state, mut ready) = (readiness.condition("state", "no"), readiness.watch());
        let value = watch::Sender::new(false);
        let followed = tokio::spawn(state.follow(value.subscribe(), "it is not read"));
        for is_met in [true, false, true] {
            value.send_replace(is_met);
            ready.wait_for(|ready| *ready == is_met).await.expect("the conditions are there");
        }
        value.send_replace(false);
        drop(value);
        followed.await.expect("it does not panic");
        assert_eq!(readiness.unmet_conditions(), ["state: it is not read"]);
    }
}
