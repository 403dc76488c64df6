//! The work queue of the server: messages by classes of needs and priorities, as the consumers of NATS have them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::{
    store::TaskDelivery,
    task::{MachineCapabilities, TaskId, TaskRequirements},
};

/// Time for which the server remembers the messages it has queued.
const REMEMBERED: Duration = Duration::from_secs(120);

/// A worker that waits for a task.
#[derive(Debug, Default)]
pub(super) struct SimQueueWaiter {
    given: Mutex<Option<TaskDelivery>>,
    came: Notify,
    is_gone: AtomicBool,
}

/// The worker's end of it.
pub(super) struct SimQueueWaiterHandle(Arc<SimQueueWaiter>);

impl SimQueueWaiterHandle {
    pub(super) async fn delivery(&self) -> TaskDelivery {
        loop {
            let came = self.0.came.notified();
            if let Some(delivery) = self.0.given.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return delivery;
            }
            came.await;
        }
    }
}

impl Drop for SimQueueWaiterHandle {
    fn drop(&mut self) {
        self.0.is_gone.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct SimQueueMessage {
    task: TaskId,
    class: usize,
    priority: u8,
    /// When it comes back, if it was given to somebody.
    until: Option<Instant>,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    /// After so long, a task that nobody keeps is given to another worker.
    ack_wait: Duration,
    classes: Vec<TaskRequirements>,
    /// Messages by their numbers.
    messages: HashMap<u64, SimQueueMessage>,
    /// Those that nobody has, by priority and class.
    ready: BTreeMap<(Reverse<u8>, usize), VecDeque<u64>>,
    /// When those that somebody has come back.
    deadlines: BTreeSet<(Instant, u64)>,
    remembered: HashSet<String>,
    remembered_since: VecDeque<(Instant, String)>,
    waiting: Vec<(MachineCapabilities, VecDeque<Arc<SimQueueWaiter>>)>,
    next: u64,
}

impl Queue {
    pub(super) fn new(ack_wait: Duration) -> Self {
        Self {
            ack_wait,
            classes: Vec::new(),
            messages: HashMap::new(),
            ready: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            remembered: HashSet::new(),
            remembered_since: VecDeque::new(),
            waiting: Vec::new(),
            next: 0,
        }
    }

    pub(super) fn release(&mut self, task: &TaskId, needs: &TaskRequirements, priority: u8, message: &str) {
        if !self.remembered.insert(message.to_owned()) {
            return;
        }
        self.remembered_since.push_back((Instant::now(), message.to_owned()));
        let class = self.classes.iter().position(|known| known == needs).unwrap_or_else(|| {
            self.classes.push(needs.clone());
            self.classes.len() - 1
        });
        self.next += 1;
        self.messages.insert(self.next, SimQueueMessage { task: task.clone(), class, priority, until: None });
        self.offer(self.next);
    }

    /// Gives a message to somebody who waits, or puts it where the next one looks.
    fn offer(&mut self, id: u64) {
        let Some(message) = self.messages.get(&id) else { return };
        let Some(needs) = self.classes.get(message.class) else { return };
        let mut able = self.waiting.iter_mut().filter(|(offer, _)| offer.has(needs));
        let waiter = able.find_map(|(_, waiting)| {
            std::iter::from_fn(|| waiting.pop_front()).find(|waiter| !waiter.is_gone.load(Ordering::Relaxed))
        });
        match waiter {
            Some(waiter) => {
                let delivery = self.given(id);
                *waiter.given.lock().unwrap_or_else(PoisonError::into_inner) = delivery;
                waiter.came.notify_one();
            }
            None => {
                let place = (Reverse(message.priority), message.class);
                self.ready.entry(place).or_default().push_back(id);
            }
        }
    }

    fn given(&mut self, id: u64) -> Option<TaskDelivery> {
        let message = self.messages.get_mut(&id)?;
        let until = Instant::now() + self.ack_wait;
        message.until = Some(until);
        self.deadlines.insert((until, id));
        Some(TaskDelivery { task: message.task.clone(), id })
    }

    /// The first message that a machine with this offer can do.
    fn first(&mut self, offer: &MachineCapabilities) -> Option<u64> {
        let classes = &self.classes;
        let is_able = |class: usize| classes.get(class).is_some_and(|needs| offer.has(needs));
        let (place, line) = self.ready.iter_mut().find(|((_, class), _)| is_able(*class))?;
        let (place, first) = (*place, line.pop_front());
        if line.is_empty() {
            self.ready.remove(&place);
        }
        first
    }

    /// A task that a machine with this offer can do, or a place in the line.
    pub(super) fn pull(&mut self, offer: &MachineCapabilities) -> Result<TaskDelivery, SimQueueWaiterHandle> {
        while let Some(id) = self.first(offer) {
            // One that was finished after it came back is not there any more.
            if let Some(delivery) = self.given(id) {
                return Ok(delivery);
            }
        }
        let waiter = Arc::new(SimQueueWaiter::default());
        match self.waiting.iter_mut().find(|(known, _)| known == offer) {
            Some((_, waiting)) => waiting.push_back(Arc::clone(&waiter)),
            None => self.waiting.push((offer.clone(), [Arc::clone(&waiter)].into())),
        }
        Err(SimQueueWaiterHandle(waiter))
    }

    /// Whoever has it keeps it for so long. It is the message that counts and not to whom it was given last.
    fn until(&mut self, id: u64, after: Duration) {
        let Some(message) = self.messages.get_mut(&id) else { return };
        let Some(before) = message.until else { return };
        let until = Instant::now() + after;
        message.until = Some(until);
        self.deadlines.remove(&(before, id));
        self.deadlines.insert((until, id));
    }

    pub(super) fn keep(&mut self, id: u64) {
        self.until(id, self.ack_wait);
    }

    pub(super) fn give_back(&mut self, id: u64, after: Duration) {
        self.until(id, after);
    }

    /// Returns the number of messages that are with a worker.
    pub(super) fn held(&self) -> u64 {
        self.deadlines.len() as u64
    }

    pub(super) fn finish(&mut self, id: u64) {
        if let Some(SimQueueMessage { until: Some(until), .. }) = self.messages.remove(&id) {
            self.deadlines.remove(&(until, id));
        }
    }

    /// Takes back what nobody kept.
    pub(super) fn tick(&mut self) {
        let now = Instant::now();
        while let Some((_, id)) = self.deadlines.first().copied().filter(|(until, _)| *until <= now) {
            self.deadlines.pop_first();
            if let Some(message) = self.messages.get_mut(&id) {
                message.until = None;
            }
            self.offer(id);
        }
        while self.remembered_since.front().is_some_and(|(since, _)| now.duration_since(*since) > REMEMBERED)
        {
            if let Some((_, message)) = self.remembered_since.pop_front() {
                self.remembered.remove(&message);
            }
        }
    }
}
