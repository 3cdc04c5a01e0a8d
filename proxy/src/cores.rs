//! One thread with a Tokio current-thread runtime for each core; a session stays where it was put.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

/// Work that begins on a core: makes the future there.
type Begin = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Work, counted where it runs.
struct Job {
    begin: Begin,
    load: Load,
}

/// The threads that run sessions.
#[derive(Debug)]
pub(crate) struct Cores {
    cores: Vec<Core>,
}

#[derive(Debug)]
struct Core {
    jobs: mpsc::UnboundedSender<Job>,
    load: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

/// Counts one session on its core for as long as it lives.
#[derive(Debug)]
struct Load(Arc<AtomicUsize>);

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Cores {
    /// Starts `count` threads (at least one).
    ///
    /// # Errors
    /// The system's refusal of a thread or of a runtime's descriptors.
    pub(crate) fn start(count: usize) -> std::io::Result<Self> {
        let cores = (0..count.max(1)).map(Core::start).collect::<Result<_, _>>()?;
        Ok(Self { cores })
    }

    /// Begins `job` on the core with the fewest sessions, and counts it there until it ends.
    pub(crate) fn spawn<F>(&self, job: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(core) = self.cores.iter().min_by_key(|core| core.load.load(Ordering::Relaxed)) else {
            return;
        };
        core.load.fetch_add(1, Ordering::Relaxed);
        let load = Load(core.load.clone());
        let job = Job { begin: Box::new(|| Box::pin(job())), load };
        // A core ends only with the process; a job that comes after that is dropped, and its load with it.
        drop(core.jobs.send(job));
    }

    /// Ends the threads, and with them every session that still runs.
    pub(crate) fn stop(self) {
        for core in self.cores {
            drop(core.jobs);
            if core.thread.join().is_err() {
                tracing::error!("a core's thread ended by a panic");
            }
        }
    }
}

impl Core {
    fn start(number: usize) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (jobs, mut inbox) = mpsc::unbounded_channel::<Job>();
        let thread = std::thread::Builder::new().name(format!("core-{number}")).spawn(move || {
            crate::stats::bind_core(number);
            runtime.block_on(async move {
                while let Some(Job { begin, load }) = inbox.recv().await {
                    // What is awaited inside an `async` block lies in it twice: only the box does here.
                    let work = begin();
                    tokio::spawn(async move {
                        let _load = load;
                        work.await;
                    });
                }
            });
        })?;
        Ok(Self { jobs, load: Arc::new(AtomicUsize::new(0)), thread })
    }
}
