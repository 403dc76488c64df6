//! What a connection does when the other side takes little or nothing.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
    sync::Semaphore,
    time::{Instant, sleep},
};

use super::{PageConnection, STALLED_BOUND};

/// A connection of which the other side takes 16 bytes and no more, and all places.
fn line() -> (PageConnection<tokio::io::DuplexStream>, tokio::io::DuplexStream, Arc<Semaphore>) {
    let places = Arc::new(Semaphore::new(1));
    let place = Arc::clone(&places).try_acquire_owned().unwrap();
    let (near, far) = duplex(16);
    (PageConnection::new(near, place), far, places)
}

#[tokio::test(start_paused = true)]
async fn who_takes_nothing_is_left() {
    let (mut line, _far, places) = line();
    let begun = Instant::now();
    let error = line.write_all(&[0; 17]).await.unwrap_err();
    assert_eq!((error.kind(), begun.elapsed()), (io::ErrorKind::TimedOut, STALLED_BOUND));
    assert_eq!(places.available_permits(), 0, "the place is taken as long as it is open");
    drop(line);
    assert_eq!(places.available_permits(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_takes_a_little_now_and_then_is_not() {
    let (mut line, mut far, _places) = line();
    let reading = async {
        for _ in 0..8 {
            sleep(STALLED_BOUND - Duration::from_secs(1)).await;
            far.read_exact(&mut [0; 16]).await.unwrap();
        }
    };
    let (written, ()) = tokio::join!(line.write_all(&[0; 128]), reading);
    written.unwrap();
}
