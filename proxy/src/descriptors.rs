//! How many sockets the process may have open: as many as the system lets it ask for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are no client's: listeners, control connections, rule files.
const OWN: u64 = 100;

/// Raises the soft limit on descriptors (`ulimit -n`) to the hard one, as it is 1,024 on many systems, and says so if
/// that is too little for `clients` connections.
pub(crate) fn allow(clients: usize) {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "the limit on open files stays as it is");
            limit.current
        }
    };
    let wanted = (clients as u64).saturating_add(OWN);
    if let Some(now) = now.filter(|now| *now < wanted) {
        tracing::warn!(
            limit = now,
            "the system allows fewer open files than limits.connections ({clients}) needs; raise `ulimit -Hn`"
        );
    }
}
