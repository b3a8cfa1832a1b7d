/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Between the kernel's C code and `src/kernel.rs`. Times are nanoseconds of the run.
 *
 * A lane is a pair of hosts: a flow's, or those of transfers that follow each other. It has a part for each path: a
 * device at either end, and the TCP connection (of a multipath connection: the subflow) between them.
 */
#ifndef CWNDLAB_H
#define CWNDLAB_H

#include <linux/completion.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

#define CW_NONE (~0ULL)

enum cw_way { CW_DATA, CW_ACKS };
/* As in `cwndlab_sim::mptcp::Scheduler`. */
enum cw_scheduler { CW_SATURATE, CW_MIN_RTT, CW_ROUND_ROBIN, CW_KERNELS_OWN };
/* As in `src/controller.rs`. */
enum cw_event { CW_LOSS_RECOVERY, CW_ECN_REDUCTION, CW_RECOVERED, CW_TIMEOUT, CW_UNDO, CW_IDLE_RESTART };
enum cw_limit { CW_WINDOW, CW_APPLICATION, CW_RECEIVER };
enum cw_needs { CW_OWN_WINDOW = 1, CW_LOST_PACKETS = 2 };
/* The congestion control that asks the controllers in Rust. */
#define CW_OURS "cwndlab"

struct cw_flow {
	char cc[16];
	u64 start_ns, stop_ns;
	u64 mtu, initial_window, rto_min_us, receive_buffer, send_buffer, write_size, sack_compression_ns;
	u32 first_part, parts;
	u8 sack, timestamps, ecn, window_tuning, tail_loss_probe, rack, window_validation, pacing, ack_each;
	u8 multipath, scheduler, repeats, counts_marks;
};

struct cw_arrival {
	struct sk_buff *packet;
	u32 part, way;
};

/* Both are explained in `src/facts.rs`. */
struct cw_counts {
	u64 timeouts, fast_recoveries, probes, undos;
};

struct cw_facts {
	u64 cwnd, decided, ssthresh, last_rtt_us, rtt_us, rtt_sent_us, rtt_end_seq, srtt_ns, min_rtt_us;
	u64 in_flight, ca_state, pacing_rate;
	u64 rate_delivered, rate_interval_us, delivered, sent, resent, unacknowledged, received;
	struct cw_counts counts;
};

/* Numbers of segments, but for bytes and times in nanoseconds. They are explained in `src/controller.rs`. */
struct cw_cc_facts {
	u64 now, srtt, rttvar, min_rtt, latest_rtt, rto, next_departure;
	u64 in_flight, flight_size, outstanding, delivered;
	u32 ca_state, limited_by;
	u8 window_limited, app_limited;
};

struct cw_cc_ack {
	u64 acked, advanced, lost, ce, prior_in_flight, rtt;
	u64 sample_delivered, sample_interval, sample_prior_delivered;
	u32 una, end_seq;
	u8 sample_is_app_limited, delayed, tail_probe, unordered_growth;
};

struct cw_cc_control {
	u64 cwnd_segments, ssthresh_segments, pacing_rate;
};

/* In Rust. */
u32 cw_cc_new(u32 part, const struct cw_cc_facts *facts, struct cw_cc_control *control);
void cw_cc_event(u32 part, const struct cw_cc_facts *facts, u32 event, u64 idle, struct cw_cc_control *control);
void cw_cc_ack(u32 part, const struct cw_cc_facts *facts, const struct cw_cc_ack *ack, struct cw_cc_control *control);
void cw_cc_timer(u32 part, const struct cw_cc_facts *facts, struct cw_cc_control *control);
void cw_cc_sent(u32 part, const struct cw_cc_facts *facts, u32 end_seq, u32 bytes);
void cw_cc_lost(u32 part, const struct cw_cc_facts *facts, u32 seq, u32 end_seq);
void cw_lost(u64 now, u32 part, u32 seq, u32 end_seq);
u64 cw_cc_next_timer(u32 part);
u32 cw_prepare(u32 *parts);
u64 cw_duration(void);
void cw_lane(u32 lane, struct cw_flow *out);
u64 cw_begin(u32 lane);
u64 cw_next_start(u64 now, u32 lane);
bool cw_holds_back(u32 part);
bool cw_sends_ect1(u32 part);
u64 cw_initial_ssthresh(u32 part);
void cw_send(u64 now, u32 part, u32 way, struct sk_buff *packet, struct sk_buff *held, u32 bytes, u32 payload,
	     const void *headers, u32 header_bytes);
bool cw_captures(void);
u64 cw_next_event(void);
bool cw_step(u64 now, struct cw_arrival *out);
bool cw_received(u64 now, u32 lane, u64 bytes);
void cw_look(u64 now, u32 part, const struct cw_facts *facts);
void cw_count(u32 lane, const struct cw_counts *counts, u64 reinjected);
u64 cw_next_look(void);
void cw_after_looks(u64 now);
void cw_finish(void) __noreturn;


/* In C, for Rust. */
struct Qdisc *cwk_queue(const char *name, const void *options, u32 length);
void cwk_enqueue(struct Qdisc *queue, struct sk_buff *packet, u32 bytes);
struct sk_buff *cwk_dequeue(struct Qdisc *queue, u8 *tos);
u32 cwk_length(const struct Qdisc *queue);
bool cwk_is_dropped(const struct sk_buff *packet);
void cwk_free(struct sk_buff *packet);
void cwk_mark(struct sk_buff *packet);
void cwk_look(u32 part, struct cw_facts *facts);

/* In C, for C. */
struct lane {
	u32 index;
	struct cw_flow is;
	struct net *here, *there;
	__be32 receiver;
	struct socket *sends, *listens;
	/* What the sender's host had counted before this transfer. */
	struct cw_counts before;
	/* Whose turn it is, of the subflows. */
	u32 turn;
	/* All is written; all of that is acknowledged. */
	bool written;
	struct completion done;
};

void cwndlab_end_with_parent(void);

struct sk_buff *cwndlab_request(int type, size_t header, int flags);
void cwndlab_ask(struct net *net, int protocol, struct sk_buff *request, const char *what);

u32 cwndlab_first_part(u32 lane);

void cwndlab_hosts(struct lane *lane);

void cwndlab_schedule(struct sock *connection, enum cw_scheduler by);
u16 cwndlab_share(const struct mptcp_sock *msk, u16 given, u16 length);

struct net_device *cwndlab_device(struct net *net, const char *address, u64 mtu, u32 part, enum cw_way way);
void cwndlab_begin(u64 t0);
u64 cwndlab_now(void);
u64 cwndlab_begun(void);

void cwndlab_register(u32 parts);
void cwndlab_cc_sent(const struct sk_buff *packet, u32 payload);
void cwndlab_cc_lost(struct tcp_sock *tp, const struct sk_buff *packet);
u32 cwndlab_decided(const struct sock *sender);
bool cwndlab_has_prr(const struct sock *sender);

u32 cwndlab_part_of(const struct sock *sender);
struct lane *cwndlab_lane_of(const struct sock *sender);
void cwndlab_make_parts(u32 count);
void cwndlab_add_part(struct lane *lane, u32 index);
struct cw_counts cwndlab_counted(const struct lane *lane);
void cwndlab_arriving(u32 part, enum cw_way way, const struct sk_buff *packet);
void cwndlab_arrived(u32 part, enum cw_way way);
void cwndlab_look(struct lane *lane, u64 now);
void cwndlab_set_up(struct sock *sender, const struct cw_flow *is, u32 part);
void cwndlab_expect_subflows(const struct sock *sender);

#define cwndlab_expect(error, what) do {				\
	int __error = (error);						\
	if (__error)							\
		panic("cwndlab: %s: error %d", what, __error);		\
} while (0)

static inline void *cwndlab_zeroed(size_t bytes)
{
	void *memory = vzalloc(bytes);

	cwndlab_expect(memory ? 0 : -ENOMEM, "memory");
	return memory;
}

#endif
