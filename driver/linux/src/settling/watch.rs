//! The event sources of a watch on a Linux desktop: damage and windows from the X server, changes from the
//! accessibility bus.

use std::time::Duration;

use deskhand_desktop::{
    DesktopError, DesktopResult, ElementChangeKind, IdleReport, IdleWait, QuietLimits, WindowManagement as _,
};
use deskhand_ui::{
    WindowInfo,
    ids::{ElementId, WindowId},
};
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};

use super::{
    asleep, pages,
    wait::{self, Activities, Activity, ApplicationScope, Baseline, IdleTarget},
};
use crate::{
    atspi::{Accessibility, Announcement, Application, is_noise},
    desktop::LinuxDesktop,
    screen::ScreenEvent,
};

/// Maximum time for a window to answer a ping before its application is queried over the accessibility bus
/// alone.
const PONG_BOUND: Duration = Duration::from_millis(500);

/// A running watch.
pub struct ActivitySubscription {
    receivers: Receivers,
    baseline: Baseline,
    /// The connections of the watched application; `None` when the whole desktop is watched.
    applications: Option<Vec<Application>>,
}

/// The receivers of activity.
struct Receivers {
    announcements: Option<broadcast::Receiver<Announcement>>,
    screen_events: broadcast::Receiver<ScreenEvent>,
}

impl IdleWait for LinuxDesktop {
    type Watch = ActivitySubscription;

    async fn watch(&self, window: Option<WindowId>) -> DesktopResult<ActivitySubscription> {
        let announcements = self.accessibility().map(Accessibility::announcements);
        let receivers = Receivers { announcements, screen_events: self.screen_events() };
        let windows = self.windows().await?;
        let Some(window) = window else {
            let baseline = Baseline { windows, scope: None, starts_late: Duration::ZERO };
            return Ok(ActivitySubscription { receivers, baseline, applications: None });
        };
        let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
        let applications = match (self.accessibility(), info.app.pid) {
            (Some(accessibility), Some(pid)) => accessibility.applications_of(pid).await?,
            _ => Vec::new(),
        };
        let scope = Some(ApplicationScope { pid: info.app.pid, root: info.app.root.clone() });
        let starts_late = applications.iter().map(|one| one.toolkit.starts_late).max().unwrap_or_default();
        let baseline = Baseline { windows, scope, starts_late };
        Ok(ActivitySubscription { receivers, baseline, applications: Some(applications) })
    }

    async fn settle(&self, watch: ActivitySubscription, limits: QuietLimits) -> DesktopResult<IdleReport> {
        let ActivitySubscription { receivers, mut baseline, applications } = watch;
        let pid = baseline.scope.as_ref().and_then(|scope| scope.pid);
        let watched = LinuxWatched { desktop: self, pid, applications: applications.as_deref() };
        if limits == QuietLimits::UP_TO_DATE {
            // It has had some of that time already.
            let history = self.history();
            let toolkit = baseline.starts_late.saturating_sub(history.since_handled());
            let follow = applications.iter().flatten().map(|one| one.toolkit.controls_follow_within).max();
            let selection = follow.unwrap_or_default().saturating_sub(history.since_selection());
            baseline.starts_late = toolkit.max(selection);
        }
        let mut activities = LinuxActivities { watched, receivers };
        wait::settle(&watched, &mut activities, &baseline, limits).await
    }

    async fn sleeps_for(&self, window: WindowId) -> DesktopResult<Duration> {
        let windows = self.windows().await?;
        let pid = windows.iter().find(|info| info.id == window).and_then(|info| info.app.pid);
        asleep::sleeps_for(self, pid).await
    }

    fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        let mut recent = self.history().recently_changed(elements, span);
        let Some(accessibility) = self.accessibility() else { return recent };
        let away: Vec<(ElementId, Duration)> =
            accessibility.with_ids(|ids| elements.iter().map(|id| (*id, ids.away(*id, span))).collect());
        // What was away for a while and shows the same as before is known if it was quiet for that much longer.
        let is_unknown = |(id, away): &(ElementId, Duration)| {
            !away.is_zero() && !self.history().recently_changed(&[*id], span.saturating_add(*away)).is_empty()
        };
        recent.extend(away.into_iter().filter(is_unknown).map(|(id, _)| id));
        recent
    }

    fn attribute_to_action(&self, element: ElementId) {
        self.history().attribute_to_action(element);
    }

    fn mark_self_changing(&self, element: ElementId, aspect: ElementChangeKind) {
        self.history().mark_self_changing(element, aspect);
    }

    fn is_self_changing(&self, element: ElementId, aspect: ElementChangeKind) -> bool {
        self.history().is_self_changing(element, aspect)
    }
}

/// A desktop, and whose activity on it counts.
#[derive(Clone, Copy)]
struct LinuxWatched<'a> {
    desktop: &'a LinuxDesktop,
    /// The process of the watched application.
    pid: Option<u32>,
    /// The connections of the watched application; `None` for every application.
    applications: Option<&'a [Application]>,
}

impl IdleTarget for LinuxWatched<'_> {
    /// The window answers a ping in the order in which input came, then the application answers on the accessibility
    /// bus; what it announced before has arrived by then.
    async fn fence(&self) -> DesktopResult<bool> {
        let desktop = self.desktop;
        if let (Some(applications), Some(accessibility)) = (self.applications, desktop.accessibility()) {
            desktop.await_application(PONG_BOUND).await?;
            for application in applications {
                if application.toolkit.has_pages_apart && desktop.history().awaits_input() {
                    pages::rest(application.pid).await;
                }
                if !accessibility.round_trip(application).await? {
                    return Ok(false);
                }
            }
        }
        desktop.server().catch_up().await?;
        if self.applications.is_some() {
            desktop.history().record_handled();
        }
        Ok(true)
    }

    async fn sleeps_for(&self) -> DesktopResult<Duration> {
        asleep::sleeps_for(self.desktop, self.pid).await
    }

    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        self.desktop.windows().await
    }
}

impl LinuxWatched<'_> {
    /// The activity that an event of the screen stands for; `None` if it needs no attention.
    fn x_activity(&self, event: ScreenEvent) -> DesktopResult<Option<Activity>> {
        match event {
            ScreenEvent::WindowsChanged => Ok(Some(Activity::Windows)),
            ScreenEvent::Damage { by_itself: true, .. } => Ok(None),
            ScreenEvent::Damage { window, by_itself: false, .. } => {
                Ok(Some(Activity::Drawn { window: self.desktop.window_id(window) }))
            }
            ScreenEvent::DisplayGone => Err(display_gone()),
        }
    }

    /// The change that an application announced; `None` if it says nothing of content or comes from another application.
    fn change(&self, announced: &Announcement) -> Option<Activity> {
        let counts = self
            .applications
            .is_none_or(|applications| applications.iter().any(|one| one.root.bus == announced.object.bus));
        let aspect = announced.event.aspect();
        if !counts || is_noise(aspect) {
            return None;
        }
        let element = self.desktop.accessibility().and_then(|elements| elements.find_id(&announced.object));
        let self_changing = element.is_some_and(|id| self.desktop.history().keeps_changing(id));
        Some(Activity::Changed { aspect, element, self_changing })
    }
}

/// The activity on a desktop.
struct LinuxActivities<'a> {
    watched: LinuxWatched<'a>,
    receivers: Receivers,
}

/// A received event.
enum IdleWatchEvent {
    X(Result<ScreenEvent, RecvError>),
    Announced(Result<Announcement, RecvError>),
}

impl LinuxActivities<'_> {
    fn activity(&self, arrived: IdleWatchEvent) -> DesktopResult<Option<Activity>> {
        match arrived {
            IdleWatchEvent::X(Ok(event)) => self.watched.x_activity(event),
            IdleWatchEvent::Announced(Ok(announced)) => Ok(self.watched.change(&announced)),
            IdleWatchEvent::X(Err(RecvError::Lagged(_)))
            | IdleWatchEvent::Announced(Err(RecvError::Lagged(_))) => Ok(Some(Activity::Missed)),
            IdleWatchEvent::X(Err(RecvError::Closed)) => Err(display_gone()),
            IdleWatchEvent::Announced(Err(RecvError::Closed)) => Err(bus_gone()),
        }
    }

    async fn receive(&mut self) -> DesktopResult<IdleWatchEvent> {
        let Receivers { announcements, screen_events } = &mut self.receivers;
        let (Some(announcements), Some(accessibility)) =
            (announcements.as_mut(), self.watched.desktop.accessibility())
        else {
            return Ok(IdleWatchEvent::X(screen_events.recv().await));
        };
        tokio::select! {
            event = screen_events.recv() => Ok(IdleWatchEvent::X(event)),
            event = announcements.recv() => Ok(IdleWatchEvent::Announced(event)),
            () = accessibility.gone() => Err(bus_gone()),
        }
    }

    /// Returns an event that has already arrived, if any.
    fn try_receive(&mut self) -> Option<IdleWatchEvent> {
        fn arrived<T>(received: Result<T, TryRecvError>) -> Option<Result<T, RecvError>> {
            match received {
                Ok(received) => Some(Ok(received)),
                Err(TryRecvError::Lagged(missed)) => Some(Err(RecvError::Lagged(missed))),
                Err(TryRecvError::Closed) => Some(Err(RecvError::Closed)),
                Err(TryRecvError::Empty) => None,
            }
        }
        let Receivers { announcements, screen_events } = &mut self.receivers;
        arrived(screen_events.try_recv()).map(IdleWatchEvent::X).or_else(|| {
            let announcements = announcements.as_mut()?;
            arrived(announcements.try_recv()).map(IdleWatchEvent::Announced)
        })
    }
}

impl Activities for LinuxActivities<'_> {
    async fn next(&mut self) -> DesktopResult<Activity> {
        loop {
            let arrived = self.receive().await?;
            if let Some(activity) = self.activity(arrived)? {
                return Ok(activity);
            }
        }
    }

    fn pending(&mut self) -> DesktopResult<Option<Activity>> {
        while let Some(arrived) = self.try_receive() {
            if let Some(activity) = self.activity(arrived)? {
                return Ok(Some(activity));
            }
        }
        Ok(None)
    }
}

fn display_gone() -> DesktopError {
    DesktopError::Gone { what: "the display ended".to_owned() }
}

fn bus_gone() -> DesktopError {
    DesktopError::Gone { what: "the accessibility bus ended".to_owned() }
}
