// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The simulator's schedulers of multipath connections, as schedulers of the kernel's MPTCP: a subflow gets data when
 * its window has room for them. Linux's own queues them at a subflow before that.
 */
#include <net/tcp.h>
#include "cwndlab.h"
#include "protocol.h"

/* How many bytes a subflow's window has room for, besides those that the subflow has been given and not sent. */
static s64 room(struct sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk);
	s64 segments = (s64)tcp_snd_cwnd(tp) - tcp_packets_in_flight(tp);

	return segments * tcp_current_mss(ssk) - (u32)(tp->write_seq - tp->snd_nxt);
}

/* The subflow of those with room that goes before the others; NULL: none has room. */
static struct sock *first(struct mptcp_sock *msk, bool (*goes_before)(struct sock *, struct sock *))
{
	struct mptcp_subflow_context *subflow;
	struct sock *found = NULL;

	mptcp_for_each_subflow(msk, subflow) {
		struct sock *ssk = mptcp_subflow_tcp_sock(subflow);

		if (mptcp_subflow_active(subflow) && sk_stream_memory_free(ssk) && room(ssk) > 0 &&
		    (!found || goes_before(ssk, found)))
			found = ssk;
	}
	return found;
}

static int give(struct mptcp_sock *msk, struct sock *ssk, s64 bytes)
{
	/* MPTCP wakes the application when data are acknowledged in order, which a slow subflow can put off. */
	mptcp_write_space((struct sock *)msk);
	msk->snd_burst = min_t(s64, bytes, INT_MAX);
	mptcp_subflow_set_scheduled(mptcp_subflow_ctx(ssk), true);
	return 0;
}

/* Which subflow sends again what another has lost, Linux decides. */
static int reinject(struct mptcp_sock *msk)
{
	struct sock *ssk = mptcp_subflow_get_retrans(msk);

	return ssk ? give(msk, ssk, 0) : -EINVAL;
}

static int schedule_by(struct mptcp_sock *msk, struct mptcp_sched_data *data,
		       bool (*goes_before)(struct sock *, struct sock *))
{
	struct sock *ssk;

	if (data->reinject)
		return reinject(msk);
	ssk = first(msk, goes_before);
	return ssk ? give(msk, ssk, room(ssk)) : -EINVAL;
}

static bool has_more_room(struct sock *one, struct sock *other)
{
	return room(one) > room(other);
}

static int saturate(struct mptcp_sock *msk, struct mptcp_sched_data *data)
{
	return schedule_by(msk, data, has_more_room);
}

static bool is_nearer(struct sock *one, struct sock *other)
{
	return tcp_sk(one)->srtt_us < tcp_sk(other)->srtt_us;
}

static int min_rtt(struct mptcp_sock *msk, struct mptcp_sched_data *data)
{
	return schedule_by(msk, data, is_nearer);
}

/* How many others have their turn before this one. */
static u32 wait(const struct sock *ssk)
{
	const struct lane *lane = cwndlab_lane_of(ssk);

	return (cwndlab_part_of(ssk) - lane->is.first_part + lane->is.parts - lane->turn) % lane->is.parts;
}

static bool has_its_turn_before(struct sock *one, struct sock *other)
{
	return wait(one) < wait(other);
}

static int round_robin(struct mptcp_sock *msk, struct mptcp_sched_data *data)
{
	struct lane *lane;
	struct sock *ssk;

	if (data->reinject)
		return reinject(msk);
	ssk = first(msk, has_its_turn_before);
	if (!ssk)
		return -EINVAL;
	lane = cwndlab_lane_of(ssk);
	lane->turn = cwndlab_part_of(ssk) - lane->is.first_part + 1;
	return give(msk, ssk, tcp_current_mss(ssk));
}

static struct mptcp_sched_ops schedulers[] = {
	[CW_SATURATE] = { .get_subflow = saturate, .name = "saturate" },
	[CW_MIN_RTT] = { .get_subflow = min_rtt, .name = "min-rtt" },
	[CW_ROUND_ROBIN] = { .get_subflow = round_robin, .name = "round-robin" },
};

/* How much of a piece of data a subflow may have been given after this push. */
u16 cwndlab_share(const struct mptcp_sock *msk, u16 given, u16 length)
{
	bool is_ours = msk->sched >= schedulers && msk->sched < schedulers + ARRAY_SIZE(schedulers);

	return is_ours ? min_t(int, length, given + max(msk->snd_burst, 0)) : length;
}

void cwndlab_schedule(struct sock *connection, enum cw_scheduler by)
{
	struct mptcp_sock *msk = mptcp_sk(connection);

	mptcp_release_sched(msk);
	cwndlab_expect(mptcp_init_sched(msk, &schedulers[by]), schedulers[by].name);
}
