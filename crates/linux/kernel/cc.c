// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The congestion control "cwndlab": the kernel's TCP asks the controllers of `crates/cc`, which are in Rust. It detects
 * losses, retransmits and sends; they say how much.
 */
#include <linux/hrtimer.h>
#include <net/mptcp.h>
#include <net/tcp.h>
#include "cwndlab.h"

/* Of tcp_input.c, which does not share it: the ACK has SACKed data for the first time. */
#define FLAG_DATA_SACKED 0x20

struct of_socket {
	u32 part;
	u32 una, delivered_ce, probe;
	/* Data segments sent when the ACKs began to come out of order. */
	u32 sent_in_order;
	/* The newest segment that was delivered (tcp_rack_advance), and the RTT of this segment. */
	u32 newest_end_seq, rack_rtt_us, latest_rtt_us;
	u64 newest_sent_us;
	bool own_window, wants_lost, timed_out, echoed;
};

struct clock {
	struct hrtimer timer;
	struct sock *sk;
};

static struct clock *clocks;
static struct tcp_congestion_ops operations;

static struct of_socket *of(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* A socket whose transfer has ended is no longer: its part has the controller of the next transfer. */
static bool is_ours(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_ops == &operations && inet_csk(sk)->icsk_ca_initialized &&
	       clocks[of(sk)->part].sk == sk;
}

static bool is_reducing(const struct sock *sk)
{
	return (1 << inet_csk(sk)->icsk_ca_state) & (TCPF_CA_CWR | TCPF_CA_Recovery);
}

/* The window that the congestion control has decided; PRR takes a while to get there (tcp_cwnd_reduction). */
u32 cwndlab_decided(const struct sock *sk)
{
	bool own_window = is_ours(sk) ? of(sk)->own_window : inet_csk(sk)->icsk_ca_ops->cong_control != NULL;

	return is_reducing(sk) && !own_window ? tcp_sk(sk)->snd_ssthresh : tcp_snd_cwnd(tcp_sk(sk));
}

static u64 ns(u64 us)
{
	return us * NSEC_PER_USEC;
}

static enum cw_limit limit_of(const struct tcp_sock *tp)
{
	if (tp->chrono_type == TCP_CHRONO_RWND_LIMITED)
		return CW_RECEIVER;
	return tp->app_limited ? CW_APPLICATION : CW_WINDOW;
}

/*
 * The RTT of the newest segment that was delivered, as in flow.rs: `rack.rtt_us` is that of the segment taken last from an ACK.
 * Only an ACK changes what is compared here, and it is taken in before the time of the socket goes on.
 */
static u32 latest_rtt_us(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct of_socket *own = of(sk);

	if (own->newest_sent_us != tp->rack.mstamp || own->newest_end_seq != tp->rack.end_seq)
		own->latest_rtt_us = tcp_stamp_us_delta(tp->tcp_mstamp, tp->rack.mstamp);
	else if (own->rack_rtt_us != tp->rack.rtt_us)
		own->latest_rtt_us = tp->rack.rtt_us;
	own->newest_sent_us = tp->rack.mstamp;
	own->newest_end_seq = tp->rack.end_seq;
	own->rack_rtt_us = tp->rack.rtt_us;
	return own->latest_rtt_us;
}

static struct cw_cc_facts facts_of(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 beyond = icsk->icsk_ca_state == TCP_CA_Disorder ? tp->data_segs_out - of(sk)->sent_in_order : 0;

	return (struct cw_cc_facts){
		.now = cwndlab_now(),
		.srtt = ns(tp->srtt_us) >> 3,
		/* `rttvar_us` is the largest deviation of a round trip, and at least rto_min. */
		.rttvar = ns(tp->mdev_us) >> 2,
		.min_rtt = tp->srtt_us ? ns(tcp_min_rtt(tp)) : 0,
		.latest_rtt = ns(latest_rtt_us(sk)),
		.rto = ns((tp->srtt_us >> 3) + tp->rttvar_us),
		.in_flight = tcp_packets_in_flight(tp),
		/*
		 * RFC 5681 section 3.2: without what limited transmit has sent, one for each segment that arrived out
		 * of order (RFC 3042).
		 */
		.flight_size = tp->packets_out - min3(beyond, tp->sacked_out, tp->packets_out),
		.outstanding = tp->packets_out,
		.ca_state = icsk->icsk_ca_state,
		.limited_by = limit_of(tp),
		.next_departure = tp->tcp_wstamp_ns > cwndlab_begun() ? tp->tcp_wstamp_ns - cwndlab_begun() : 0,
		.delivered = tp->delivered,
		/* The rule of slow start is for windows with a threshold. */
		.window_limited = of(sk)->own_window ? tp->is_cwnd_limited : tcp_is_cwnd_limited(sk),
		.app_limited = tp->app_limited != 0,
	};
}

static u32 segments(const struct cw_cc_control *control)
{
	return clamp_t(u64, control->cwnd_segments, 1, U32_MAX);
}

/* As tcp_update_pacing_rate(), for MPTCP's scheduler and the kernel's own pacing. */
static u64 rate_of_window(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);

	rate *= tcp_snd_cwnd(tp) < tp->snd_ssthresh / 2 ? READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_pacing_ss_ratio) :
							  READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_pacing_ca_ratio);
	rate *= max(tcp_snd_cwnd(tp), tp->packets_out);
	return tp->srtt_us ? div64_u64(rate, tp->srtt_us) : rate;
}

static void set_timer(const struct sock *sk)
{
	struct clock *clock = &clocks[of(sk)->part];
	u64 next = cw_cc_next_timer(of(sk)->part);

	if (next == CW_NONE)
		hrtimer_try_to_cancel(&clock->timer);
	else
		hrtimer_start(&clock->timer, ns_to_ktime(cwndlab_begun() + next), HRTIMER_MODE_ABS_SOFT);
}

/* What the controller decides holds: all of it, or in a reduction of the kernel's all but the window. */
static void apply(struct sock *sk, const struct cw_cc_control *control, bool window)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (window)
		tcp_snd_cwnd_set(tp, min(segments(control), tp->snd_cwnd_clamp));
	/* Slow start may end without a loss. */
	if (inet_csk(sk)->icsk_ca_state <= TCP_CA_Disorder && control->ssthresh_segments)
		tp->snd_ssthresh = min_t(u64, control->ssthresh_segments, TCP_INFINITE_SSTHRESH);
	if (control->pacing_rate) {
		WRITE_ONCE(sk->sk_pacing_rate, control->pacing_rate);
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	} else {
		WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate_of_window(sk), READ_ONCE(sk->sk_max_pacing_rate)));
	}
	set_timer(sk);
}

static struct cw_cc_control event(struct sock *sk, enum cw_event what, u64 idle)
{
	struct cw_cc_facts facts = facts_of(sk);
	struct cw_cc_control control;

	cw_cc_event(of(sk)->part, &facts, what, idle, &control);
	return control;
}

static void init(struct sock *sk)
{
	struct cw_cc_facts facts;
	struct cw_cc_control control;
	u32 needs;

	memset(of(sk), 0, sizeof(*of(sk)));
	of(sk)->part = cwndlab_part_of(sk);
	of(sk)->una = tcp_sk(sk)->snd_una;
	facts = facts_of(sk);
	needs = cw_cc_new(of(sk)->part, &facts, &control);
	of(sk)->own_window = needs & CW_OWN_WINDOW;
	of(sk)->wants_lost = needs & CW_LOST_PACKETS;
	clocks[of(sk)->part].sk = sk;
	apply(sk, &control, false);
}

/*
 * A reduction begins. The retransmission timer has taken itself off when it expires (tcp_write_timer_handler);
 * tcp_enter_recovery notes what could be undone, tcp_enter_cwr forgets it. A loss that a tail probe has repaired notes nothing
 * either (tcp_process_tlp_ack).
 */
static u32 ssthresh(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cw_cc_control control;
	bool repaired;

	if (!is_ours(sk))
		return max(tcp_snd_cwnd(tp) >> 1, 2U);
	if (!inet_csk(sk)->icsk_pending) {
		control = event(sk, CW_TIMEOUT, 0);
		of(sk)->timed_out = true;
		return control.ssthresh_segments ?: max(tcp_snd_cwnd(tp) >> 1, 2U);
	}
	repaired = of(sk)->probe && !of(sk)->echoed;
	control = event(sk, tp->undo_marker || repaired ? CW_LOSS_RECOVERY : CW_ECN_REDUCTION, 0);
	/* An ACK makes it hold a moment later (cong_control); RACK's timer sends without one (tcp_rack_reo_timeout). */
	if (of(sk)->own_window)
		apply(sk, &control, true);
	return max(segments(&control), 2U);
}

static void set_state(struct sock *sk, u8 to)
{
	u8 from = inet_csk(sk)->icsk_ca_state;

	if (!is_ours(sk))
		return;
	if (to == TCP_CA_Loss) {
		/* Within a reduction the kernel does not ask for another threshold. */
		if (!of(sk)->timed_out)
			event(sk, CW_TIMEOUT, 0);
		of(sk)->timed_out = false;
	} else if (to <= TCP_CA_Disorder && from >= TCP_CA_CWR) {
		event(sk, CW_RECOVERED, 0);
	}
	if (to == TCP_CA_Disorder && from != to)
		of(sk)->sent_in_order = tcp_sk(sk)->data_segs_out;
}

static u32 undo_cwnd(struct sock *sk)
{
	struct cw_cc_control control;

	if (!is_ours(sk))
		return tcp_snd_cwnd(tcp_sk(sk));
	control = event(sk, CW_UNDO, 0);
	return segments(&control);
}

static void cwnd_event(struct sock *sk, enum tcp_ca_event what)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 idle = ns(jiffies_to_usecs(tcp_jiffies32 - tp->lsndtime));
	struct cw_cc_control control;

	if (!is_ours(sk) || what != CA_EVENT_TX_START || !tp->data_segs_out || inet_csk(sk)->icsk_ca_state != TCP_CA_Open ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle) || idle <= facts_of(sk).rto)
		return;
	control = event(sk, CW_IDLE_RESTART, idle);
	apply(sk, &control, true);
}

static void in_ack_event(struct sock *sk, u32 flags)
{
	of(sk)->probe = tcp_sk(sk)->tlp_high_seq;
	of(sk)->echoed = flags & CA_ACK_ECE;
}

/*
 * Whether TCP would let the window grow although the ACK does not advance (tcp_may_raise_cwnd). That a segment was delivered
 * does not say so: a duplicate that a DSACK reports counts as well.
 */
static bool grows_unordered(const struct sock *sk, int flag)
{
	return (flag & FLAG_DATA_SACKED) &&
	       tcp_sk(sk)->reordering > READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);
}

static void cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct of_socket *own = of(sk);
	struct cw_cc_facts facts;
	struct cw_cc_control control;
	bool reducing = is_reducing(sk);
	struct cw_cc_ack told = {
		.acked = rs->acked_sacked,
		.advanced = tp->snd_una - own->una,
		.lost = max(rs->losses, 0),
		.ce = tp->delivered_ce - own->delivered_ce,
		.prior_in_flight = rs->prior_in_flight,
		.rtt = rs->rtt_us > 0 ? ns(rs->rtt_us) : 0,
		.una = tp->snd_una,
		.end_seq = rs->last_end_seq,
		.sample_delivered = max(rs->delivered, 0),
		.sample_interval = rs->interval_us > 0 ? ns(rs->interval_us) : 0,
		.sample_prior_delivered = rs->prior_delivered,
		.sample_is_app_limited = rs->is_app_limited,
		.delayed = rs->is_ack_delayed,
		.tail_probe = own->probe && !tp->tlp_high_seq,
		.unordered_growth = grows_unordered(sk, flag),
	};

	/* The answer to the SYN comes before the start. */
	if (!is_ours(sk))
		return;
	own->una = tp->snd_una;
	own->delivered_ce = tp->delivered_ce;
	facts = facts_of(sk);
	cw_cc_ack(own->part, &facts, &told, &control);
	if (reducing && !own->own_window)
		tcp_cwnd_reduction(sk, rs->acked_sacked, rs->losses, flag);
	own->probe = 0;
	apply(sk, &control, !reducing || own->own_window);
}

/* Whether PRR sets the window in a reduction that begins without an ACK (linux.patch asks in tcp_rack_reo_timeout). */
bool cwndlab_has_prr(const struct sock *sk)
{
	return is_ours(sk) ? !of(sk)->own_window : !inet_csk(sk)->icsk_ca_ops->cong_control;
}

/*
 * How many windows the send buffer grows to. Two let TCP send on through a recovery (tcp_sndbuf_expand); a controller that
 * obeys its own window there, as BBR does, needs a third (bbr_sndbuf_expand).
 */
static u32 sndbuf_expand(struct sock *sk)
{
	return is_ours(sk) && of(sk)->own_window ? 3 : 2;
}

/* TCP has marked a packet as lost: one or more segments, sent for the first time or again (linux.patch calls it). */
void cwndlab_cc_lost(struct tcp_sock *tp, const struct sk_buff *packet)
{
	const struct sock *sk = (const struct sock *)tp;
	u32 seq = TCP_SKB_CB(packet)->seq, end_seq = TCP_SKB_CB(packet)->end_seq;
	struct cw_cc_facts facts;

	cw_lost(cwndlab_now(), cwndlab_part_of(sk), seq, end_seq);
	if (!is_ours(sk) || !of(sk)->wants_lost)
		return;
	facts = facts_of(sk);
	cw_cc_lost(of(sk)->part, &facts, seq, end_seq);
}

/* TCP counts what it sends as in flight when its device has taken it: new data, and one segment that is sent again. */
static u32 not_counted(const struct tcp_sock *tp, u32 end_seq)
{
	return after(end_seq, tp->snd_nxt) ? DIV_ROUND_UP(end_seq - tp->snd_nxt, tp->mss_cache) : 1;
}

/* A device sends a packet of the socket. */
void cwndlab_cc_sent(const struct sk_buff *packet, u32 payload)
{
	const struct iphdr *ip = (const void *)packet->data;
	const struct tcphdr *tcp = (const void *)ip + ip->ihl * 4;
	struct sock *sk = packet->sk;
	u32 end_seq = ntohl(tcp->seq) + payload;
	struct cw_cc_facts facts;

	if (!sk || !sk_fullsock(sk) || !is_ours(sk))
		return;
	facts = facts_of(sk);
	facts.in_flight += not_counted(tcp_sk(sk), end_seq);
	if (after(end_seq, tcp_sk(sk)->snd_nxt))
		facts.outstanding += not_counted(tcp_sk(sk), end_seq);
	cw_cc_sent(of(sk)->part, &facts, end_seq, payload);
	set_timer(sk);
}

/* As tcp_tsq_write(): lost segments come first. */
static void send_what_fits(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->lost_out > tp->retrans_out && tcp_snd_cwnd(tp) > tcp_packets_in_flight(tp)) {
		tcp_mstamp_refresh(tp);
		tcp_xmit_retransmit_queue(sk);
	}
	tcp_push_pending_frames(sk);
}

static enum hrtimer_restart due(struct hrtimer *timer)
{
	struct clock *clock = container_of(timer, struct clock, timer);
	struct sock *sk = clock->sk;
	struct cw_cc_facts facts;
	struct cw_cc_control control;
	bool reducing;

	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		bh_unlock_sock(sk);
		hrtimer_forward_now(timer, NSEC_PER_USEC);
		return HRTIMER_RESTART;
	}
	facts = facts_of(sk);
	reducing = is_reducing(sk);
	cw_cc_timer(of(sk)->part, &facts, &control);
	apply(sk, &control, !reducing || of(sk)->own_window);
	send_what_fits(sk);
	bh_unlock_sock(sk);
	return HRTIMER_NORESTART;
}

static struct tcp_congestion_ops operations __read_mostly = {
	.name = CW_OURS,
	.init = init,
	.ssthresh = ssthresh,
	.set_state = set_state,
	.undo_cwnd = undo_cwnd,
	.cwnd_event = cwnd_event,
	.in_ack_event = in_ack_event,
	.cong_control = cong_control,
	.sndbuf_expand = sndbuf_expand,
};

void cwndlab_register(u32 parts)
{
	u32 n;

	BUILD_BUG_ON(sizeof(struct of_socket) > ICSK_CA_PRIV_SIZE);
	clocks = cwndlab_zeroed(array_size(parts, sizeof(*clocks)));
	for (n = 0; n < parts; n++) {
		hrtimer_init(&clocks[n].timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
		clocks[n].timer.function = due;
	}
	cwndlab_expect(tcp_register_congestion_control(&operations), CW_OURS);
}
