// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The kernel's queue disciplines in the links of a scenario. Each is the root of a device that does nothing else, made as
 * `tc qdisc add dev DEVICE root KIND ...` makes it.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/ip.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "cwndlab.h"

static netdev_tx_t transmit(struct sk_buff *packet, struct net_device *device)
{
	panic("cwndlab: a queue's device has sent a packet");
}

static const struct net_device_ops operations = { .ndo_start_xmit = transmit };

/* Sizes that go by the device are those of Ethernet. */
static void set_up(struct net_device *device)
{
	device->netdev_ops = &operations;
	device->mtu = ETH_DATA_LEN;
	device->hard_header_len = ETH_HLEN;
	device->priv_flags |= IFF_NO_QUEUE;
}

struct Qdisc *cwk_queue(const char *name, const void *options, u32 length)
{
	struct net_device *device = alloc_netdev(0, "cwq%d", NET_NAME_ENUM, set_up);
	struct sk_buff *message = cwndlab_request(RTM_NEWQDISC, sizeof(struct tcmsg), NLM_F_CREATE | NLM_F_REPLACE);
	struct tcmsg *traffic = nlmsg_data(nlmsg_hdr(message));
	struct Qdisc *queue;

	if (!device)
		panic("cwndlab: no device for a queue");
	cwndlab_expect(register_netdev(device), "register_netdev");
	traffic->tcm_ifindex = device->ifindex;
	traffic->tcm_parent = TC_H_ROOT;
	cwndlab_expect(nla_put_string(message, TCA_KIND, name), name);
	cwndlab_expect(nla_put(message, TCA_OPTIONS | NLA_F_NESTED, length, options), name);
	cwndlab_ask(&init_net, NETLINK_ROUTE, message, name);
	rtnl_lock();
	queue = rtnl_dereference(device->qdisc);
	rtnl_unlock();
	return queue;
}

/* The links keep a reference, so a packet that the discipline frees, as it comes or later, is still there. */
bool cwk_is_dropped(const struct sk_buff *packet)
{
	return refcount_read(&packet->users) == 1;
}

u32 cwk_length(const struct Qdisc *queue)
{
	return queue->q.qlen;
}

void cwk_enqueue(struct Qdisc *queue, struct sk_buff *packet, u32 bytes)
{
	struct sk_buff *drops = NULL;

	memset(packet->cb, 0, sizeof(packet->cb));
	qdisc_skb_cb(packet)->pkt_len = bytes;
	packet->dev = qdisc_dev(queue);
	packet->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(packet);
	/* A router knows neither the sender's hash nor when it meant to send. */
	skb_clear_hash(packet);
	packet->tstamp = 0;
	skb_get(packet);
	spin_lock(qdisc_lock(queue));
	queue->ops->enqueue(packet, queue, &drops);
	spin_unlock(qdisc_lock(queue));
	kfree_skb_list(drops);
}

struct sk_buff *cwk_dequeue(struct Qdisc *queue, u8 *tos)
{
	struct sk_buff *packet;

	spin_lock(qdisc_lock(queue));
	packet = queue->ops->dequeue(queue);
	spin_unlock(qdisc_lock(queue));
	if (!packet)
		return NULL;
	consume_skb(packet);
	*tos = ip_hdr(packet)->tos;
	return packet;
}
