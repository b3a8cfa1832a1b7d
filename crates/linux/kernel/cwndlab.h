/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Between the kernel's C code and `src/kernel.rs`. Times are nanoseconds of the run. */
#ifndef CWNDLAB_H
#define CWNDLAB_H

#include <linux/types.h>

#define CW_NONE (~0ULL)

enum cw_way { CW_DATA, CW_ACKS };

struct cw_flow {
	char cc[16];
	u64 start_ns, stop_ns, bytes;
	u64 mtu, initial_window, initial_ssthresh, rto_min_us, receive_buffer, sack_compression_ns;
	u8 sack, timestamps, ecn, window_tuning, tail_loss_probe, rack, window_validation, pacing, held_back, ack_each;
};

struct cw_arrival {
	struct sk_buff *packet;
	u32 flow, way;
};

/* Each is explained at `Facts` in `src/flow.rs`. */
struct cw_facts {
	u64 cwnd, ssthresh, rtt_us, rtt_sent_us, rtt_end_seq, in_flight, ca_state, pacing_rate;
	u64 rate_delivered, rate_interval_us, delivered, sent, resent, timeouts, fast_recoveries, probes, undos, unacknowledged;
};

/* In Rust. */
u32 cw_prepare(void);
u64 cw_duration(void);
void cw_flow(u32 index, struct cw_flow *out);
void cw_send(u64 now, u32 flow, u32 way, struct sk_buff *packet, struct sk_buff *held, u32 bytes, u32 payload, u8 tos);
u64 cw_next_event(void);
bool cw_step(u64 now, struct cw_arrival *out);
void cw_received(u64 now, u32 flow, u64 bytes);
void cw_look(u64 now, u32 flow, const struct cw_facts *facts);
u64 cw_next_look(void);
void cw_after_looks(u64 now);
void cw_finish(void) __noreturn;

/* In C, for Rust. */
void cwk_free(struct sk_buff *packet);
void cwk_mark(struct sk_buff *packet);

/* In C, for C. */
void cwndlab_end_with_parent(void);
struct net_device *cwndlab_device(struct net *net, const char *address, const struct cw_flow *is, u32 flow,
				  enum cw_way way);
void cwndlab_begin(u64 t0);
u64 cwndlab_now(void);
void cwndlab_acked(u32 flow);

#endif
