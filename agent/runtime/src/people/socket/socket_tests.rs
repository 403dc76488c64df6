//! Clients that come and go.

use std::time::Duration;

use deskhand_ui::ids::SessionId;
use tokio::{io::AsyncWriteExt as _, time::timeout};

use super::{ControlSocket, Patience, SessionControls, SteeringScope, connect_control};
use crate::{
    people::{PauseSwitch, UserChannel as _},
    stop::StopSwitch,
    waiting::Waits,
};

const BOUND: Duration = Duration::from_secs(30);

#[tokio::test]
async fn what_a_client_wrote_before_it_left_is_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let steered =
        SessionControls { stop: StopSwitch::new(), pause: PauseSwitch::default(), waits: Waits::default() };
    let socket = ControlSocket::new(steered, Patience::WaitForSomebody, SteeringScope::Whole);
    socket.listen(&SessionId("session".to_owned()), folder.path()).unwrap();
    for number in 1..=50 {
        let mut stream = connect_control(folder.path()).await.unwrap();
        let line = format!("{{\"do\": \"say\", \"text\": \"words {number}\"}}\n");
        stream.write_all(line.as_bytes()).await.unwrap();
        // It reads nothing, so that nothing can be written to it any more.
        drop(stream);
        socket.recorded(number);
        let heard = timeout(BOUND, socket.heard()).await;
        assert_eq!(heard.unwrap(), format!("words {number}"));
    }
}
