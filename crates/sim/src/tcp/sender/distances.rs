//! For OLIA: the bytes acknowledged between the last two losses, and since the last one (Linux MPTCP v0.9x
//! mptcp_olia_set_state).

use cwndlab_cc::{Phase, SubflowView};

/// Keeps the distances between losses in a subflow's view.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossDistances {
    /// Bytes acknowledged in a recovery. They count once it has ended, because the kernel reads snd_una only
    /// where a window may grow.
    held: u64,
}

impl LossDistances {
    /// `bytes` were acknowledged in this phase.
    pub fn on_acknowledged(&mut self, view: &mut SubflowView, bytes: u64, phase: Phase) {
        self.held += bytes;
        if phase != Phase::Recovery {
            view.since_loss += std::mem::take(&mut self.held);
        }
    }

    /// Begins a new distance, unless nothing was counted since the last loss: a timer that expires again, or
    /// in the recovery from the same loss, reports no new loss.
    pub fn on_loss(view: &mut SubflowView) {
        if view.since_loss > 0 {
            view.between_losses = std::mem::take(&mut view.since_loss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(view: &SubflowView) -> (u64, u64) {
        (view.between_losses, view.since_loss)
    }

    #[test]
    fn a_loss_begins_a_new_distance() {
        let (mut view, mut distances) = (SubflowView::default(), LossDistances::default());
        distances.on_acknowledged(&mut view, 500, Phase::Open);
        LossDistances::on_loss(&mut view);
        distances.on_acknowledged(&mut view, 30, Phase::Loss);
        assert_eq!(seen(&view), (500, 30));
        LossDistances::on_loss(&mut view);
        assert_eq!(seen(&view), (30, 0));
    }

    #[test]
    fn a_timer_that_expires_again_keeps_both_distances() {
        let mut view = SubflowView { since_loss: 500, between_losses: 200, ..SubflowView::default() };
        (0..3).for_each(|_| LossDistances::on_loss(&mut view));
        assert_eq!(seen(&view), (500, 0));
    }

    #[test]
    fn a_timeout_within_a_recovery_is_the_same_loss() {
        let (mut view, mut distances) = (SubflowView::default(), LossDistances::default());
        distances.on_acknowledged(&mut view, 500, Phase::Disorder);
        LossDistances::on_loss(&mut view);
        distances.on_acknowledged(&mut view, 10, Phase::Recovery);
        LossDistances::on_loss(&mut view);
        assert_eq!(seen(&view), (500, 0));
        // Bytes acknowledged in the recovery count with those that follow it.
        distances.on_acknowledged(&mut view, 20, Phase::Loss);
        assert_eq!(seen(&view), (500, 30));
    }
}
