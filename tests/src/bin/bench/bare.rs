//! A relay that only copies bytes: what any proxy on Tokio costs at least, on one current-thread runtime for each core
//! and on one multi-thread runtime.

use std::io;
use std::net::Ipv4Addr;
use std::thread;

use clap::ValueEnum;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

/// How Tokio runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Runtime {
    /// One current-thread runtime for each core; a connection stays where it was put, as in the proxy.
    CurrentThread,
    /// One runtime that moves tasks between its threads.
    MultiThread,
}

/// Relays every connection to 127.0.0.1:`listen` to 127.0.0.1:`to`; ends with the process.
///
/// # Errors
/// The system's refusal of the port, of a thread, or of a runtime's descriptors.
pub(crate) fn serve(runtime: Runtime, listen: u16, to: u16) -> io::Result<()> {
    let cores = thread::available_parallelism()?.get();
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, listen))?;
    match runtime {
        Runtime::CurrentThread => {
            let cores: Vec<_> = (0..cores).map(|_| core(to)).collect::<io::Result<_>>()?;
            for (accepted, core) in listener.incoming().zip(cores.iter().cycle()) {
                let _ = core.send(accepted?);
            }
            Ok(())
        }
        Runtime::MultiThread => {
            let runtime = Builder::new_multi_thread().worker_threads(cores).enable_all().build()?;
            for accepted in listener.incoming() {
                runtime.spawn(relay(accepted?, to));
            }
            Ok(())
        }
    }
}

/// A thread with a runtime of its own, and the way to bring it connections.
fn core(to: u16) -> io::Result<mpsc::UnboundedSender<std::net::TcpStream>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (sender, mut inbox) = mpsc::unbounded_channel();
    thread::Builder::new().spawn(move || {
        runtime.block_on(async move {
            while let Some(accepted) = inbox.recv().await {
                tokio::spawn(relay(accepted, to));
            }
        });
    })?;
    Ok(sender)
}

/// One connection, until either side closes it.
async fn relay(accepted: std::net::TcpStream, to: u16) {
    let both = async {
        accepted.set_nonblocking(true)?;
        accepted.set_nodelay(true)?;
        let mut client = TcpStream::from_std(accepted)?;
        let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await?;
        server.set_nodelay(true)?;
        tokio::io::copy_bidirectional(&mut client, &mut server).await
    };
    let _: io::Result<_> = both.await;
}
