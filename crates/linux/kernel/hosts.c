// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The two hosts of a lane: network namespaces with a device for each path. Subflows of a multipath connection are
 * opened by the kernel's own path manager, which is told of the sender's addresses as `ip mptcp endpoint add` tells it.
 */
#include <linux/inet.h>
#include <linux/mptcp_pm.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "cwndlab.h"
#include "protocol.h"

/* Each path of each lane is a network of its own, so that queues tell flows apart by their addresses. */
#define ADDRESS "10.%u.%u.%u"
#define ADDRESS_LENGTH 16
/* What the last number grows by from path to path: a mask of 30 bits. */
#define NETWORK 4
/* No limit by buffers unless the scenario sets one: as tcp_rmem and tcp_wmem of a host for long fat paths. */
#define MOST_BUFFER (256 << 20)
/*
 * What a subflow adds at least to the send buffer of its connection. Data stay there until all before them are
 * acknowledged, and Linux sizes it by the windows alone; with two subflows, this is half a second at 1 Gbit/s.
 */
#define LEAST_BUFFER (32 << 20)

static struct net *host(const struct cw_flow *is)
{
	struct net *net = copy_net_ns(CLONE_NEWNET, &init_user_ns, &init_net);
	u64 most = min_t(u64, is->receive_buffer, MOST_BUFFER);

	if (IS_ERR(net))
		panic("cwndlab: no network namespace");
	/* Without tuning the buffer has its size from the start. */
	net->ipv4.sysctl_tcp_rmem[1] = is->window_tuning ? min_t(u64, net->ipv4.sysctl_tcp_rmem[1], most) : most;
	net->ipv4.sysctl_tcp_rmem[2] = most;
	net->ipv4.sysctl_tcp_wmem[2] = min_t(u64, is->send_buffer, MOST_BUFFER);
	/* A buffer starts with this, even if it may not be as large. */
	net->ipv4.sysctl_tcp_wmem[1] = min(net->ipv4.sysctl_tcp_wmem[1], net->ipv4.sysctl_tcp_wmem[2]);
	if (is->multipath && is->scheduler != CW_KERNELS_OWN)
		net->ipv4.sysctl_tcp_wmem[1] = LEAST_BUFFER;
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
	/* As in the simulator, nobody gives up: Linux would after 2 minutes without an answer to a SYN, or 15 without an ACK. */
	net->ipv4.sysctl_tcp_syn_retries = MAX_TCP_SYNCNT;
	net->ipv4.sysctl_tcp_synack_retries = U8_MAX;
	net->ipv4.sysctl_tcp_retries2 = U8_MAX;
	return net;
}

/* A request to the path manager. */
static struct sk_buff *request(u8 command)
{
	struct sk_buff *message = cwndlab_request(mptcp_genl_family.id, GENL_HDRLEN, 0);
	struct genlmsghdr *generic = nlmsg_data(nlmsg_hdr(message));

	generic->cmd = command;
	generic->version = MPTCP_PM_VER;
	return message;
}

static void limit_subflows(struct net *net, u32 subflows)
{
	struct sk_buff *message = request(MPTCP_PM_CMD_SET_LIMITS);

	cwndlab_expect(nla_put_u32(message, MPTCP_PM_ATTR_RCV_ADD_ADDRS, 0), "limits");
	cwndlab_expect(nla_put_u32(message, MPTCP_PM_ATTR_SUBFLOWS, subflows), "limits");
	cwndlab_ask(net, NETLINK_GENERIC, message, "limits");
}

/* A subflow is opened from this address, through this device. */
static void add_endpoint(struct net *net, const char *address, const struct net_device *device)
{
	struct sk_buff *message = request(MPTCP_PM_CMD_ADD_ADDR);
	struct nlattr *endpoint = nla_nest_start(message, MPTCP_PM_ATTR_ADDR);

	if (!endpoint)
		panic("cwndlab: no room for an endpoint");
	cwndlab_expect(nla_put_u16(message, MPTCP_PM_ADDR_ATTR_FAMILY, AF_INET), "endpoint");
	cwndlab_expect(nla_put_in_addr(message, MPTCP_PM_ADDR_ATTR_ADDR4, in_aton(address)), "endpoint");
	cwndlab_expect(nla_put_s32(message, MPTCP_PM_ADDR_ATTR_IF_IDX, device->ifindex), "endpoint");
	cwndlab_expect(nla_put_u32(message, MPTCP_PM_ADDR_ATTR_FLAGS, MPTCP_PM_ADDR_FLAG_SUBFLOW), "endpoint");
	nla_nest_end(message, endpoint);
	cwndlab_ask(net, NETLINK_GENERIC, message, "endpoint");
}

static void write_address(char *out, const struct lane *lane, u32 path, u32 end)
{
	snprintf(out, ADDRESS_LENGTH, ADDRESS, lane->index >> 8, lane->index & 0xff, NETWORK * path + end);
}

/* The part of a sender's socket, by its address. */
u32 cwndlab_part_of(const struct sock *sender)
{
	u32 address = ntohl(inet_sk(sender)->inet_saddr);

	return cwndlab_first_part(address >> 8 & 0xffff) + (address & 0xff) / NETWORK;
}

void cwndlab_hosts(struct lane *lane)
{
	const struct cw_flow *is = &lane->is;
	char address[ADDRESS_LENGTH];
	struct net_device *device;
	u32 path;

	lane->here = host(is);
	lane->there = host(is);
	if (is->multipath) {
		limit_subflows(lane->here, is->parts - 1);
		limit_subflows(lane->there, is->parts - 1);
	}
	for (path = 0; path < is->parts; path++) {
		cwndlab_add_part(lane, is->first_part + path);
		write_address(address, lane, path, 2);
		/* A connection goes to its first address, on whatever device. */
		if (!path)
			lane->receiver = in_aton(address);
		cwndlab_device(lane->there, address, is->mtu, is->first_part + path, CW_ACKS);
		write_address(address, lane, path, 1);
		device = cwndlab_device(lane->here, address, is->mtu, is->first_part + path, CW_DATA);
		if (path)
			add_endpoint(lane->here, address, device);
	}
}
