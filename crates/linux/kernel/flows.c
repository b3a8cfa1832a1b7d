// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The run: for each flow two hosts (network namespaces) with a device each, a socket that sends and one that receives.
 * All of it is the kernel's own TCP; what its sockets show goes to Rust.
 */
#include <linux/hrtimer.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "cwndlab.h"

#define SENDER "10.0.0.1"
#define RECEIVER "10.0.0.2"
#define PORT 5201
/* What the applications write and read at a time. */
#define CHUNK (128 * 1024)
#define READ_AT_ONCE (1 << 20)
/* No limit by buffers unless the scenario sets one: as tcp_rmem and tcp_wmem of a host for long fat paths. */
#define MOST_BUFFER (256 << 20)
/* What a flow with a stop may have written and not sent when that comes. */
#define UNSENT (16 * 1024)

struct flow {
	u32 index;
	struct cw_flow is;
	struct net *here, *there;
	struct socket *sends, *listens, *receives;
	/* All is written, and acknowledged: nothing changes any more. */
	bool written, done;
};

static struct flow *flows;
static u32 count;
static char *buffer;

static void expect(int error, const char *what)
{
	if (error)
		panic("cwndlab: %s: error %d", what, error);
}

static void sleep_until(u64 ns)
{
	while (cwndlab_now() < ns) {
		ktime_t left = ns_to_ktime(ns - cwndlab_now());

		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&left, 0, HRTIMER_MODE_REL);
	}
}

static void stay(void)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}

static u64 counted(const struct flow *flow, int item)
{
	return snmp_get_cpu_field(flow->here->mib.net_statistics, 0, item);
}

static void look(struct flow *flow, u64 now)
{
	struct sock *sk = flow->sends->sk;
	struct tcp_sock *tp = tcp_sk(sk);
	u64 rate = READ_ONCE(sk->sk_pacing_rate);
	struct cw_facts facts = {
		.cwnd = tcp_snd_cwnd(tp),
		.ssthresh = tp->snd_ssthresh,
		.rtt_us = tp->rack.rtt_us,
		.rtt_sent_us = tp->rack.mstamp,
		.rtt_end_seq = tp->rack.end_seq,
		.in_flight = tcp_packets_in_flight(tp),
		.ca_state = inet_csk(sk)->icsk_ca_state,
		.pacing_rate = rate == ~0UL ? CW_NONE : rate,
		.rate_delivered = tp->rate_delivered,
		.rate_interval_us = tp->rate_interval_us,
		.delivered = tp->delivered,
		.sent = tp->data_segs_out,
		.resent = tp->total_retrans,
		.timeouts = counted(flow, LINUX_MIB_TCPTIMEOUTS),
		.fast_recoveries = counted(flow, LINUX_MIB_TCPSACKRECOVERY) + counted(flow, LINUX_MIB_TCPRENORECOVERY),
		.probes = counted(flow, LINUX_MIB_TCPLOSSPROBES),
		.undos = counted(flow, LINUX_MIB_TCPFULLUNDO) + counted(flow, LINUX_MIB_TCPPARTIALUNDO) +
			 counted(flow, LINUX_MIB_TCPDSACKUNDO) + counted(flow, LINUX_MIB_TCPLOSSUNDO),
		.unacknowledged = tp->write_seq - tp->snd_una,
	};

	cw_look(now, flow->index, &facts);
	flow->done = flow->written && !facts.unacknowledged;
}

/* An ACK has been taken in. */
void cwndlab_acked(u32 index)
{
	if (flows[index].sends)
		look(&flows[index], cwndlab_now());
}

static void set(struct socket *socket, int option, int value)
{
	expect(socket->ops->setsockopt(socket, SOL_TCP, option, KERNEL_SOCKPTR(&value), sizeof(value)), "setsockopt");
}

static int send_data(void *given)
{
	struct flow *flow = given;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = in_aton(RECEIVER) };
	const struct cw_flow *is = &flow->is;
	struct socket *socket;
	struct tcp_sock *tp;
	/* A write that has begun goes on after the stop, so those of a flow with a stop are small. */
	u64 sent = 0, chunk = is->stop_ns == CW_NONE ? CHUNK : UNSENT;
	int name = strnlen(is->cc, sizeof(is->cc));

	sleep_until(is->start_ns);
	expect(sock_create_kern(flow->here, AF_INET, SOCK_STREAM, IPPROTO_TCP, &socket), "socket");
	expect(socket->ops->setsockopt(socket, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR((void *)is->cc), name), is->cc);
	if (is->stop_ns != CW_NONE)
		set(socket, TCP_NOTSENT_LOWAT, UNSENT);
	if (is->pacing)
		smp_store_release(&socket->sk->sk_pacing_status, SK_PACING_NEEDED);
	flow->sends = socket;
	expect(kernel_connect(socket, (void *)&to, sizeof(to), 0), "connect");
	tp = tcp_sk(socket->sk);
	lock_sock(socket->sk);
	tcp_snd_cwnd_set(tp, is->initial_window);
	if (is->initial_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = is->initial_ssthresh;
	release_sock(socket->sk);
	while (sent < is->bytes && cwndlab_now() < is->stop_ns) {
		struct kvec data = { buffer, min_t(u64, chunk, is->bytes - sent) };
		struct msghdr message = {};
		int written = kernel_sendmsg(socket, &message, &data, 1, data.iov_len);

		if (written < 0)
			break;
		sent += written;
	}
	flow->written = sent == is->bytes;
	stay();
	return 0;
}

static int receive_data(void *given)
{
	struct flow *flow = given;

	expect(kernel_accept(flow->listens, &flow->receives, 0), "accept");
	/* As the route attribute quickack. */
	inet_csk(flow->receives->sk)->icsk_ack.dst_quick_ack = flow->is.ack_each;
	for (;;) {
		struct kvec data = { buffer, READ_AT_ONCE };
		struct msghdr message = {};
		int got = kernel_recvmsg(flow->receives, &message, &data, 1, READ_AT_ONCE, MSG_TRUNC);

		if (got <= 0)
			break;
		cw_received(cwndlab_now(), flow->index, got);
	}
	stay();
	return 0;
}

static struct net *host(const struct cw_flow *is)
{
	struct net *net = copy_net_ns(CLONE_NEWNET, &init_user_ns, &init_net);
	u64 most = min_t(u64, is->receive_buffer, MOST_BUFFER);

	if (IS_ERR(net))
		panic("cwndlab: no network namespace");
	/* Without tuning the window is the whole buffer from the start. */
	net->ipv4.sysctl_tcp_rmem[1] = is->window_tuning ? min_t(u64, net->ipv4.sysctl_tcp_rmem[1], most) : most;
	net->ipv4.sysctl_tcp_rmem[2] = most;
	net->ipv4.sysctl_tcp_wmem[2] = MOST_BUFFER;
	net->ipv4.sysctl_tcp_moderate_rcvbuf = is->window_tuning;
	net->ipv4.sysctl_tcp_ecn = is->ecn;
	net->ipv4.sysctl_tcp_sack = is->sack;
	net->ipv4.sysctl_tcp_timestamps = is->timestamps;
	net->ipv4.sysctl_tcp_nometrics_save = 1;
	net->ipv4.sysctl_tcp_rto_min_us = is->rto_min_us;
	net->ipv4.sysctl_tcp_comp_sack_delay_ns = is->sack_compression_ns;
	net->ipv4.sysctl_tcp_early_retrans = is->tail_loss_probe ? 3 : 0;
	net->ipv4.sysctl_tcp_recovery = is->rack ? TCP_RACK_LOSS_DETECTION : 0;
	net->ipv4.sysctl_tcp_slow_start_after_idle = is->window_validation;
	return net;
}

static void build(struct flow *flow, u32 index)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	flow->index = index;
	cw_flow(index, &flow->is);
	flow->here = host(&flow->is);
	flow->there = host(&flow->is);
	cwndlab_device(flow->here, SENDER, &flow->is, index, CW_DATA);
	cwndlab_device(flow->there, RECEIVER, &flow->is, index, CW_ACKS);
	expect(sock_create_kern(flow->there, AF_INET, SOCK_STREAM, IPPROTO_TCP, &flow->listens), "socket");
	expect(kernel_bind(flow->listens, (void *)&at, sizeof(at)), "bind");
	expect(kernel_listen(flow->listens, 1), "listen");
}

static void follow(void)
{
	u64 end = cw_duration(), next;
	u32 n;

	do {
		next = cw_next_look();
		sleep_until(next);
		for (n = 0; n < count; n++)
			if (flows[n].sends && !flows[n].done)
				look(&flows[n], next);
		cw_after_looks(next);
	} while (next < end);
}

static int __init cwndlab(void)
{
	ktime_t begin;
	u32 n;

	cwndlab_end_with_parent();
	count = cw_prepare();
	flows = vzalloc(array_size(count, sizeof(*flows)));
	buffer = vzalloc(READ_AT_ONCE);
	/* The default goes by memory. */
	init_user_ns.ucount_max[UCOUNT_NET_NAMESPACES] = INT_MAX;
	sysctl_tcp_mem[0] = sysctl_tcp_mem[1] = sysctl_tcp_mem[2] = LONG_MAX >> 16;
	for (n = 0; n < count; n++)
		build(&flows[n], n);
	/* The run begins at a whole second of the kernel's clock, whatever the time that building took. */
	begin = ns_to_ktime((ktime_get_ns() / NSEC_PER_SEC + 1) * NSEC_PER_SEC);
	while (ktime_before(ktime_get(), begin)) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&begin, 0, HRTIMER_MODE_ABS);
	}
	cwndlab_begin(ktime_to_ns(begin));
	for (n = 0; n < count; n++) {
		expect(PTR_ERR_OR_ZERO(kthread_run(receive_data, &flows[n], "receiver%u", n)), "kthread_run");
		expect(PTR_ERR_OR_ZERO(kthread_run(send_data, &flows[n], "sender%u", n)), "kthread_run");
	}
	follow();
	cw_finish();
}
late_initcall_sync(cwndlab);
