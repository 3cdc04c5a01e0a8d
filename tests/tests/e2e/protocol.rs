//! The commands of the protocol, packet by packet: straight, with a connection of one's own and with a shared one.

mod attributes;
mod commands;
mod sessions;
mod statements;
mod talk;

use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{classic, modern};
use talk::Talk;
use wire::Capabilities;

/// A server, and proxies of each pooling in front of it.
struct Place {
    product: &'static str,
    straight: Server,
    proxies: Vec<(&'static str, Proxy)>,
}

impl Place {
    fn new(product: &'static str, straight: Server, setup: &Setup) -> Place {
        let (own, shared) = (setup.clone().unshared(), setup.clone().sharing(1));
        Place { product, straight, proxies: vec![("session", own.start()), ("transaction", shared.start())] }
    }

    fn mariadb() -> Option<Place> {
        let server = MariaDb::shared()?;
        Some(Place::new("mariadb", server.server(), &Setup::mariadb(server.port())))
    }

    async fn mysql() -> Option<Place> {
        let server = MySql::shared().await?;
        Some(Place::new("mysql", server.server(), &Setup::mysql(server.port())))
    }

    /// Has `script` talk to the server and to each proxy, as clients of both ages with `further` capabilities: every packet
    /// must be the same.
    async fn same(self, further: Capabilities, script: impl Fn(&mut Talk) + Send + 'static) {
        let run = move || {
            for age in [modern(), classic()] {
                let mut wanted = age | further;
                if further.bits() >> 32 != 0 {
                    // MariaDB's own flags are not for peers that set this one.
                    wanted -= Capabilities::LONG_PASSWORD;
                }
                let straight = Talk::record(&self.straight, wanted, &script);
                assert!(straight.len() > 2, "it talked");
                for (pooling, proxy) in &self.proxies {
                    let proxied = Talk::record(&proxy.server(), wanted, &script);
                    let differs = straight.iter().zip(&proxied).position(|(a, b)| a != b);
                    let at = differs.unwrap_or(straight.len().min(proxied.len()));
                    let shown = |list: &[String]| {
                        list.iter()
                            .skip(at.saturating_sub(2))
                            .take(5)
                            .cloned()
                            .collect::<Vec<_>>()
                            .join("\n  ")
                    };
                    assert!(
                        straight == proxied,
                        "{} {pooling} {age:?}, packet {at}:\n  {}\n≠\n  {}",
                        self.product,
                        shown(&straight),
                        shown(&proxied)
                    );
                }
            }
        };
        tokio::task::spawn_blocking(run).await.unwrap();
    }
}

/// The same at both products.
async fn everywhere(script: impl Fn(&mut Talk) + Clone + Send + 'static) {
    if let Some(place) = Place::mariadb() {
        place.same(Capabilities::empty(), script.clone()).await;
    }
    if let Some(place) = Place::mysql().await {
        place.same(Capabilities::empty(), script).await;
    }
}
