// SPDX-License-Identifier: MIT OR Apache-2.0
/* The run: in each lane an application that sends and one that receives. All between them is the kernel's own TCP. */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "cwndlab.h"

#define PORT 5201
/* What the applications write and read at a time, unless the scenario says it. */
#define CHUNK (128 * 1024)
#define READ_AT_ONCE (1 << 20)
/* What a flow with a stop may have written and not sent when that comes. */
#define UNSENT (16 * 1024)
/* The same of a connection with a large send buffer: its scheduler asks for more when half of it is sent. */
#define UNSENT_OF_SUBFLOWS (1 << 20)
/* A receiver with this algorithm echoes the marks of each packet, not one until CWR (dctcp_ece_ack_update). */
#define COUNTS_MARKS "dctcp"

static struct lane *lanes;
static u32 count;
static char *buffer;

u32 cwndlab_first_part(u32 lane)
{
	return lanes[lane].is.first_part;
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

static void set(struct socket *socket, int option, int value)
{
	cwndlab_expect(socket->ops->setsockopt(socket, SOL_TCP, option, KERNEL_SOCKPTR(&value), sizeof(value)),
		       "setsockopt");
}

static void set_algorithm(struct socket *socket, const char *name)
{
	cwndlab_expect(socket->ops->setsockopt(socket, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR((void *)name),
					       strnlen(name, TCP_CA_NAME_MAX)),
		       name);
}

static int protocol(const struct lane *lane)
{
	return lane->is.multipath ? IPPROTO_MPTCP : IPPROTO_TCP;
}

/* Sends as many bytes, or what time allows. */
static void transfer(struct lane *lane, u64 bytes)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = lane->receiver };
	const struct cw_flow *is = &lane->is;
	struct socket *socket;
	/* A write that has begun goes on after the stop, so those of a flow with a stop are small. */
	u64 sent = 0, chunk = min_t(u64, is->write_size, is->stop_ns == CW_NONE ? CHUNK : UNSENT);

	cwndlab_expect(sock_create_kern(lane->here, AF_INET, SOCK_STREAM, protocol(lane), &socket), "socket");
	set_algorithm(socket, is->cc);
	if (is->multipath && is->scheduler != CW_KERNELS_OWN) {
		cwndlab_schedule(socket->sk, is->scheduler);
		set(socket, TCP_NOTSENT_LOWAT, UNSENT_OF_SUBFLOWS);
	}
	if (is->stop_ns != CW_NONE)
		set(socket, TCP_NOTSENT_LOWAT, UNSENT);
	lane->before = cwndlab_counted(lane);
	lane->written = false;
	reinit_completion(&lane->done);
	lane->sends = socket;
	cwndlab_expect(kernel_connect(socket, (void *)&to, sizeof(to), 0), "connect");
	if (is->multipath)
		cwndlab_expect_subflows(socket->sk);
	/* A subflow is set up when it joins. */
	if (!is->multipath) {
		lock_sock(socket->sk);
		cwndlab_set_up(socket->sk, is, is->first_part);
		release_sock(socket->sk);
	}
	while (sent < bytes && cwndlab_now() < is->stop_ns) {
		struct kvec data = { buffer, min_t(u64, chunk, bytes - sent) };
		struct msghdr message = {};
		int written = kernel_sendmsg(socket, &message, &data, 1, data.iov_len);

		cwndlab_expect(min(written, 0), "send");
		sent += written;
	}
	lane->written = sent == bytes;
}

static int send_data(void *given)
{
	struct lane *lane = given;
	u64 start = lane->is.start_ns;

	while (start != CW_NONE) {
		sleep_until(start);
		transfer(lane, cw_begin(lane->index));
		if (!lane->is.repeats || !lane->written)
			break;
		wait_for_completion(&lane->done);
		start = cw_next_start(cwndlab_now(), lane->index);
	}
	stay();
	return 0;
}

static void receive(struct lane *lane)
{
	struct socket *socket;

	cwndlab_expect(kernel_accept(lane->listens, &socket, 0), "accept");
	/* As the route attribute quickack. */
	if (!lane->is.multipath)
		inet_csk(socket->sk)->icsk_ack.dst_quick_ack = lane->is.ack_each;
	do {
		struct kvec data = { buffer, READ_AT_ONCE };
		struct msghdr message = {};
		int got = kernel_recvmsg(socket, &message, &data, 1, READ_AT_ONCE, MSG_TRUNC);

		/* Nobody closes a connection, so an end is an error as well. */
		cwndlab_expect(got > 0 ? 0 : got ?: -ENOTCONN, "receive");
		if (!cw_received(cwndlab_now(), lane->index, got))
			return;
	} while (true);
}

static int receive_data(void *given)
{
	/* The connection stays open: closing it would send packets that the simulator does not send. */
	for (;;)
		receive(given);
	return 0;
}

static void build(struct lane *lane, u32 index)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	lane->index = index;
	cw_lane(index, &lane->is);
	init_completion(&lane->done);
	cwndlab_hosts(lane);
	cwndlab_expect(sock_create_kern(lane->there, AF_INET, SOCK_STREAM, protocol(lane), &lane->listens), "socket");
	cwndlab_expect(kernel_bind(lane->listens, (void *)&at, sizeof(at)), "bind");
	if (lane->is.counts_marks)
		set_algorithm(lane->listens, COUNTS_MARKS);
	cwndlab_expect(kernel_listen(lane->listens, 1), "listen");
}

static void follow(void)
{
	u64 end = cw_duration(), next;
	u32 n;

	do {
		next = cw_next_look();
		sleep_until(next);
		for (n = 0; n < count; n++)
			cwndlab_look(&lanes[n], next);
		cw_after_looks(next);
	} while (next < end);
}

static int __init cwndlab(void)
{
	ktime_t begin;
	u32 n, parts;

	cwndlab_end_with_parent();
	count = cw_prepare(&parts);
	lanes = cwndlab_zeroed(array_size(count, sizeof(*lanes)));
	buffer = cwndlab_zeroed(READ_AT_ONCE);
	cwndlab_make_parts(parts);
	cwndlab_register(parts);
	/* The default goes by memory. */
	init_user_ns.ucount_max[UCOUNT_NET_NAMESPACES] = INT_MAX;
	sysctl_tcp_mem[0] = sysctl_tcp_mem[1] = sysctl_tcp_mem[2] = LONG_MAX >> 16;
	for (n = 0; n < count; n++)
		build(&lanes[n], n);
	/* The run begins at a whole second of the kernel's clock, whatever the time that building took. */
	begin = ns_to_ktime((ktime_get_ns() / NSEC_PER_SEC + 1) * NSEC_PER_SEC);
	while (ktime_before(ktime_get(), begin)) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&begin, 0, HRTIMER_MODE_ABS);
	}
	cwndlab_begin(ktime_to_ns(begin));
	for (n = 0; n < count; n++) {
		cwndlab_expect(PTR_ERR_OR_ZERO(kthread_run(receive_data, &lanes[n], "receiver%u", n)), "kthread_run");
		cwndlab_expect(PTR_ERR_OR_ZERO(kthread_run(send_data, &lanes[n], "sender%u", n)), "kthread_run");
	}
	follow();
	cw_finish();
}
late_initcall_sync(cwndlab);
