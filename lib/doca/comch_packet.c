// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * comch_packet.c - what goes over a link, and the checks of what comes
 *
 * No byte of a packet is trusted: whoever reaches the link may have sent it.
 */
#include "comch.h"

#include <stdlib.h>

_Static_assert(sizeof(struct sed_packet_head) == 16 && sizeof(struct sed_greeting) == 192 &&
	       sizeof(struct sed_greeting) <= SED_COMCH_MSG_MAX &&
	       offsetof(struct sed_packet, message) == offsetof(struct sed_packet, head) + 16,
	       "packets");

static uint64_t hash(uint64_t sum, const char *text)
{
	/* FNV-1a, with the NUL, so that "a" "bc" is not "ab" "c". */
	do
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3ULL;
	while (*text++);
	return sum;
}

uint64_t sed_greeting_hash(const struct sed_greeting *greeting)
{
	return hash(hash(0xcbf29ce484222325ULL, greeting->domain), greeting->name);
}

static void head(struct sed_packet *packet, enum sed_packet_type type, uint32_t length)
{
	packet->head = (struct sed_packet_head){
		.magic = SED_PACKET_MAGIC,
		.version = SED_PACKET_VERSION,
		.type = (uint16_t)type,
		.length = length,
	};
	packet->length = sizeof(packet->head) + length;
}

void sed_packet_greet(struct sed_packet *packet, enum sed_packet_type type)
{
	head(packet, type, sizeof(packet->greeting));
}

void sed_packet_message(struct sed_packet *packet, uint32_t length)
{
	head(packet, SED_PACKET_MESSAGE, length);
}

/* A string that ends in its room, with nothing behind its end. */
static bool is_text(const char *text, size_t size)
{
	size_t i = strnlen(text, size);

	if (i == size)
		return false;
	while (i < size && !text[i])
		i++;
	return i == size;
}

static bool is_greeting(const struct sed_packet *packet)
{
	const struct sed_greeting *greeting = &packet->greeting;

	return packet->head.length == sizeof(*greeting) && !greeting->reserved &&
	       greeting->max_msg && greeting->max_msg <= SED_COMCH_MSG_MAX &&
	       is_text(greeting->domain, sizeof(greeting->domain)) &&
	       is_text(greeting->name, sizeof(greeting->name)) && greeting->name[0];
}

int sed_packet_check(const struct sed_packet *packet)
{
	const struct sed_packet_head *h = &packet->head;

	if (packet->length < sizeof(*h) || h->magic != SED_PACKET_MAGIC ||
	    h->version != SED_PACKET_VERSION || h->reserved ||
	    h->length != packet->length - sizeof(*h) || h->length > SED_COMCH_MSG_MAX)
		return 0;
	switch (h->type) {
	case SED_PACKET_HELLO:
	case SED_PACKET_WELCOME:
		return is_greeting(packet) ? h->type : 0;
	case SED_PACKET_MESSAGE:
		return h->type;
	default:
		return 0;
	}
}
