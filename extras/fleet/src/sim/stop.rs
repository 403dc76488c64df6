//! A process that can be stopped and goes on later, as by SIGSTOP and SIGCONT: its clock goes on meanwhile, and its calls do not.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Stops and continues a process.
#[derive(Debug, Clone, Default)]
pub struct Switch(Arc<Mutex<SimSwitchState>>);

#[derive(Debug, Default)]
struct SimSwitchState {
    stopped: bool,
    waker: Option<Waker>,
}

impl Switch {
    fn state(&self) -> MutexGuard<'_, SimSwitchState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing of the process runs from here on.
    pub fn stop(&self) {
        self.state().stopped = true;
    }

    /// Resumes at the point where it was stopped.
    pub fn go_on(&self) {
        let mut state = self.state();
        state.stopped = false;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}

/// A process: what runs in it, and its switch.
pub struct Stoppable<F> {
    inner: Pin<Box<F>>,
    switch: Switch,
}

impl<F> Stoppable<F> {
    /// Wraps the future to run, with the switch that stops it.
    pub fn new(inner: F, switch: Switch) -> Self {
        Self { inner: Box::pin(inner), switch }
    }
}

impl<F: Future> Future for Stoppable<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        {
            let mut state = self.switch.state();
            if state.stopped {
                state.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
        self.inner.as_mut().poll(context)
    }
}
