//! Routes: the links and delays that a flow's packets cross.

use crate::schedule::Schedule;
use cwndlab_cc::{Span, Time};

/// The links and delays that packets of one kind cross.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Route {
    /// The first link, and the number of links: all that a short route needs, without a look into the list.
    first: Option<u32>,
    hops: u8,
    /// Delays of directions that are not modelled as links: the sum of those that never change ...
    constant: Span,
    /// ... and those that change, if any.
    changing: Box<[Schedule<Span>]>,
    /// Links by index, in order.
    links: Box<[u32]>,
}

impl Route {
    /// A route over these links, plus these delays.
    #[must_use]
    pub fn new(links: Vec<u32>, delays: Vec<Schedule<Span>>) -> Self {
        let steady = |delay: &Schedule<Span>| delay.next_change(Time::ZERO).is_none();
        let constant = delays.iter().filter(|delay| steady(delay)).fold(Span::ZERO, |sum, d| sum + d.first());
        let changing = delays.into_iter().filter(|delay| !steady(delay)).collect();
        Self {
            first: links.first().copied(),
            hops: links.len() as u8,
            links: links.into(),
            constant,
            changing,
        }
    }

    /// The first link.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.first
    }

    /// The link after this number of hops.
    #[inline]
    #[must_use]
    pub fn hop(&self, hop: u8) -> Option<u32> {
        if hop < self.hops { Some(self.links[hop as usize]) } else { None }
    }

    /// The last link.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.links.last().copied()
    }

    /// The links in order.
    #[must_use]
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// The part of [`Route::delay`] that never changes: a lower bound.
    #[must_use]
    pub fn constant_delay(&self) -> Span {
        self.constant
    }

    /// The sum of the delays that are not part of links.
    #[inline]
    #[must_use]
    pub fn delay(&self, now: Time) -> Span {
        self.changing.iter().fold(self.constant, |sum, delay| sum + delay.at(now))
    }
}

/// The routes of one flow, and the host that holds its sender back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    /// Links and delays of its data.
    pub data: Route,
    /// Links and delays of its ACKs.
    pub acks: Route,
    /// The index of the host whose queue holds its sender back.
    pub host: Option<u32>,
}
