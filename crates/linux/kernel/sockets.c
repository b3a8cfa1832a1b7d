// SPDX-License-Identifier: MIT OR Apache-2.0
/* What the sockets of a run show, after every ACK and at fixed times; it goes to Rust. */
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/inet_hashtables.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "cwndlab.h"
#include "mib.h"
#include "protocol.h"

struct part {
	struct lane *lane;
	/* Of a multipath connection: its subflow at either end, once the first packet has arrived there. */
	struct sock *sends, *receives;
	/* What the subflow did, which the kernel counts for the whole host only. */
	struct cw_counts counts;
	u32 ca_state, high_seq, tlp_high_seq;
	/* What its timers may have changed since it was last looked at. */
	u32 seen_state, seen_timeouts;
	/* What its host had counted before the packet that is being taken in. */
	u64 undos_before, recoveries_before;
	bool established;
};

static struct part *parts;

void cwndlab_make_parts(u32 count)
{
	parts = cwndlab_zeroed(array_size(count, sizeof(*parts)));
	if (!parts)
		panic("cwndlab: no memory for %u parts", count);
}

void cwndlab_add_part(struct lane *lane, u32 index)
{
	parts[index].lane = lane;
}

struct lane *cwndlab_lane_of(const struct sock *sender)
{
	return parts[cwndlab_part_of(sender)].lane;
}

static u64 counted(const struct lane *lane, int item)
{
	return snmp_get_cpu_field(lane->here->mib.net_statistics, 0, item);
}

static u64 undos(const struct lane *lane)
{
	return counted(lane, LINUX_MIB_TCPFULLUNDO) + counted(lane, LINUX_MIB_TCPPARTIALUNDO) +
	       counted(lane, LINUX_MIB_TCPDSACKUNDO) + counted(lane, LINUX_MIB_TCPLOSSUNDO);
}

static u64 recoveries(const struct lane *lane)
{
	return counted(lane, LINUX_MIB_TCPSACKRECOVERY) + counted(lane, LINUX_MIB_TCPRENORECOVERY);
}

/* What the sender's host has counted since its start. */
struct cw_counts cwndlab_counted(const struct lane *lane)
{
	return (struct cw_counts){
		.timeouts = counted(lane, LINUX_MIB_TCPTIMEOUTS),
		.fast_recoveries = recoveries(lane),
		.probes = counted(lane, LINUX_MIB_TCPLOSSPROBES),
		.undos = undos(lane),
	};
}

/* In this transfer. */
static struct cw_counts counts_of(const struct lane *lane)
{
	struct cw_counts counts = cwndlab_counted(lane);

	counts.timeouts -= lane->before.timeouts;
	counts.fast_recoveries -= lane->before.fast_recoveries;
	counts.probes -= lane->before.probes;
	counts.undos -= lane->before.undos;
	return counts;
}

static struct sock *sender_of(const struct part *part)
{
	if (part->lane->is.multipath)
		return part->sends;
	return part->lane->sends ? part->lane->sends->sk : NULL;
}

/* Its data that the application has written and nobody has acknowledged. */
static u64 unacknowledged(const struct lane *lane, const struct tcp_sock *tp)
{
	const struct mptcp_sock *connection;

	if (!lane->is.multipath)
		return tp->write_seq - tp->snd_una;
	connection = mptcp_sk(lane->sends->sk);
	return connection->write_seq - connection->snd_una;
}

static void remember_recovery(struct part *part)
{
	part->ca_state = inet_csk(part->sends)->icsk_ca_state;
	part->high_seq = tcp_sk(part->sends)->high_seq;
}

/* Notices what the timers of a subflow's socket have begun since the last time: a fast recovery or a tail loss probe. */
static void notice(struct part *part)
{
	struct sock *sk = part->sends;
	struct tcp_sock *tp = tcp_sk(sk);

	/* One that follows another has an end of its own (tcp_enter_recovery sets high_seq). */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery &&
	    (part->ca_state != TCP_CA_Recovery || part->high_seq != tp->high_seq))
		part->counts.fast_recoveries++;
	remember_recovery(part);
	/* There is at most one probe at a time, and only an ACK or a timeout ends it (tcp_send_loss_probe). */
	if (tp->tlp_high_seq && tp->tlp_high_seq != part->tlp_high_seq)
		part->counts.probes++;
	part->tlp_high_seq = tp->tlp_high_seq;
	part->counts.timeouts = tp->total_rto;
}

static struct cw_facts facts_of(const struct part *part)
{
	const struct lane *lane = part->lane;
	const struct sock *sk = sender_of(part);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 rate = READ_ONCE(sk->sk_pacing_rate);

	return (struct cw_facts){
		.cwnd = tcp_snd_cwnd(tp),
		.decided = cwndlab_decided(sk),
		.ssthresh = tp->snd_ssthresh,
		.last_rtt_us = tp->rack.rtt_us,
		.rtt_us = tcp_stamp_us_delta(tp->tcp_mstamp, tp->rack.mstamp),
		.rtt_sent_us = tp->rack.mstamp,
		.rtt_end_seq = tp->rack.end_seq,
		.srtt_ns = (u64)tp->srtt_us * NSEC_PER_USEC >> 3,
		.min_rtt_us = tp->srtt_us ? tcp_min_rtt(tp) : 0,
		.in_flight = tcp_packets_in_flight(tp),
		.ca_state = inet_csk(sk)->icsk_ca_state,
		.pacing_rate = rate == ~0UL ? CW_NONE : rate,
		.rate_delivered = tp->rate_delivered,
		.rate_interval_us = tp->rate_interval_us,
		.delivered = tp->delivered,
		.sent = tp->data_segs_out,
		.resent = tp->total_retrans,
		.unacknowledged = unacknowledged(lane, tp),
		.received = part->receives ? tcp_sk(part->receives)->bytes_received : 0,
		.counts = lane->is.multipath ? part->counts : counts_of(lane),
	};
}

/* At a decision of an agent, while the socket takes in an ACK or at its timer. */
void cwk_look(u32 index, struct cw_facts *facts)
{
	*facts = facts_of(&parts[index]);
}

static void look(struct part *part, u64 now)
{
	struct lane *lane = part->lane;
	struct cw_facts facts = facts_of(part);

	part->seen_state = facts.ca_state;
	part->seen_timeouts = tcp_sk(sender_of(part))->total_rto;
	cw_look(now, part - parts, &facts);
	if (lane->written && !facts.unacknowledged && !completion_done(&lane->done))
		complete_all(&lane->done);
}

/*
 * Looks at all parts of a lane, unless nothing changes any more. When all data of a connection have been acknowledged, its
 * subflows may still wait for the ACKs of copies: what they count then, their host counts as well.
 */
void cwndlab_look(struct lane *lane, u64 now)
{
	u32 n;

	if (!lane->sends || (!lane->is.multipath && completion_done(&lane->done)))
		return;
	for (n = lane->is.first_part; n < lane->is.first_part + lane->is.parts; n++) {
		if (lane->is.multipath && parts[n].sends)
			notice(&parts[n]);
		if (sender_of(&parts[n]))
			look(&parts[n], now);
	}
	if (lane->is.multipath) {
		struct cw_counts counts = counts_of(lane);

		cw_count(lane->index, &counts,
			 snmp_get_cpu_field(lane->here->mib.mptcp_statistics, 0, MPTCP_MIB_RETRANSSEGS));
	}
}

/* The send buffer has room for TCP_INIT_CWND segments (tcp_sndbuf_expand, before the window is known). */
static void set_initial_window(struct sock *sender, const struct cw_flow *is)
{
	u64 buffer = div_u64(sender->sk_sndbuf * is->initial_window, TCP_INIT_CWND);

	tcp_snd_cwnd_set(tcp_sk(sender), is->initial_window);
	if (!is->multipath && buffer > sender->sk_sndbuf)
		WRITE_ONCE(sender->sk_sndbuf, min_t(u64, buffer, sock_net(sender)->ipv4.sysctl_tcp_wmem[2]));
}

/* Before the first data: what a route or an application of a real host would set. */
void cwndlab_set_up(struct sock *sender, const struct cw_flow *is, u32 part)
{
	struct tcp_sock *tp = tcp_sk(sender);
	u64 ssthresh = cw_initial_ssthresh(part);

	/* Another value means that the handshake has lost packets. */
	if (tcp_snd_cwnd(tp) == TCP_INIT_CWND)
		set_initial_window(sender, is);
	if (ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = ssthresh;
	if (is->pacing)
		smp_store_release(&sender->sk_pacing_status, SK_PACING_NEEDED);
}

/* Linux goes on without MPTCP when three SYNs are lost (mptcp_active_enable); the scenario asks for subflows. */
void cwndlab_expect_subflows(const struct sock *sender)
{
	if (__mptcp_check_fallback(mptcp_sk(sender)))
		panic("cwndlab: expected a multipath connection, found plain TCP: Linux falls back to it when MPTCP's first SYNs are lost");
}

/* The established socket of the connection that a packet belongs to, at the host where it arrives. */
static struct sock *socket_of(const struct sk_buff *packet, struct net *net, int device)
{
	const struct iphdr *ip = (const void *)packet->data;
	const struct tcphdr *tcp = (const void *)ip + ip->ihl * 4;
	struct sock *sk = __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, ip->saddr, tcp->source,
						    ip->daddr, ntohs(tcp->dest), device, 0);

	if (sk && !sk_fullsock(sk)) {
		sock_gen_put(sk);
		return NULL;
	}
	/* Keeps what it refers to. */
	return sk;
}

/* A timeout comes before the RTT sample of the next ACK, which is yet to be taken in. */
static void look_at_timers(struct part *part)
{
	const struct sock *sk = sender_of(part);

	if (sk && (inet_csk(sk)->icsk_ca_state != part->seen_state || tcp_sk(sk)->total_rto != part->seen_timeouts))
		look(part, cwndlab_now());
}

void cwndlab_arriving(u32 index, enum cw_way way, const struct sk_buff *packet)
{
	struct part *part = &parts[index];

	if (!part->lane->is.multipath) {
		if (way == CW_ACKS)
			look_at_timers(part);
		return;
	}
	if (way == CW_DATA) {
		if (part->receives)
			return;
		part->receives = socket_of(packet, part->lane->there, packet->dev->ifindex);
		if (part->receives)
			inet_csk(part->receives)->icsk_ack.dst_quick_ack = part->lane->is.ack_each;
		return;
	}
	if (!part->sends)
		part->sends = socket_of(packet, part->lane->here, packet->dev->ifindex);
	if (part->sends)
		notice(part);
	look_at_timers(part);
	part->undos_before = undos(part->lane);
	part->recoveries_before = recoveries(part->lane);
}

void cwndlab_arrived(u32 index, enum cw_way way)
{
	struct part *part = &parts[index];

	if (way == CW_DATA || !sender_of(part))
		return;
	if (part->lane->is.multipath) {
		part->counts.undos += undos(part->lane) - part->undos_before;
		/* An ACK that undoes one may begin the next, with the same end. */
		part->counts.fast_recoveries += recoveries(part->lane) - part->recoveries_before;
		remember_recovery(part);
		notice(part);
		/* The answer to the SYN. */
		if (!part->established && part->sends->sk_state == TCP_ESTABLISHED) {
			part->established = true;
			cwndlab_set_up(part->sends, &part->lane->is, index);
		}
	}
	look(part, cwndlab_now());
}
