#include "codec.h"

/* COBS needs the first byte of a frame. The message is written behind it, so COBS can encode it in place. */
#define MESSAGE_AT 1u

uint32_t codec_crc32(const uint8_t *bytes, uint8_t length)
{
    /* This takes half a byte at a time, because its table of 64 bytes fits even in a small memory. */
    static const uint32_t table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
        0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    uint32_t crc = 0xffffffffu;
    for (uint8_t at = 0; at < length; at++) {
        crc ^= bytes[at];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return crc ^ 0xffffffffu;
}

static uint64_t number_at(const uint8_t *bytes, uint8_t size)
{
    uint64_t number = 0;
    for (uint8_t at = size; at > 0u; at--) {
        number = (number << 8) | bytes[at - 1u];
    }
    return number;
}

/* Receiving */

/* Decodes COBS in place: then the message and its CRC begin at `bytes + MESSAGE_AT`. Returns false for wrong bytes. */
static bool unstuff(uint8_t *bytes, uint16_t length)
{
    uint16_t code_at = 0;
    while (code_at < length) {
        const uint16_t next = (uint16_t)(code_at + bytes[code_at]);
        if (next > length) {
            return false;
        }
        bytes[code_at] = 0;
        code_at = next;
    }
    return true;
}

static enum receipt opened(struct receiver *receiver)
{
    if (!unstuff(receiver->bytes, receiver->length)) {
        return RECEIPT_NOT_COBS;
    }
    if (receiver->length <= MESSAGE_AT + CRC_BYTES) {
        return RECEIPT_SHORT;
    }
    receiver->message = receiver->bytes + MESSAGE_AT;
    receiver->message_bytes = (uint8_t)(receiver->length - MESSAGE_AT - CRC_BYTES);
    const uint64_t crc = number_at(receiver->message + receiver->message_bytes, CRC_BYTES);
    return (codec_crc32(receiver->message, receiver->message_bytes) == crc) ? RECEIPT_MESSAGE : RECEIPT_WRONG_CRC;
}

enum receipt receiver_feed(struct receiver *receiver, uint8_t byte)
{
    enum receipt receipt = RECEIPT_NOTHING;
    if (byte == 0u) {
        if (receiver->length > 0u) {
            receipt = opened(receiver);
        }
        receiver->length = 0;
        receiver->skips = false;
    } else if (receiver->length < RECEIVER_BYTES) {
        if (!receiver->skips) {
            receiver->bytes[receiver->length] = byte;
            receiver->length++;
        }
    } else {
        receipt = RECEIPT_TOO_LONG;
        receiver->length = 0;
        receiver->skips = true;
    }
    return receipt;
}

enum reading codec_read(const uint8_t *message, uint8_t length, struct host_message *told)
{
    static const uint8_t message_bytes[] = {[WHEEL_HELLO] = WHEEL_HELLO_BYTES,
                                            [WHEEL_ACK] = WHEEL_ACK_BYTES,
                                            [WHEEL_REPLAY] = WHEEL_REPLAY_BYTES,
                                            [WHEEL_SYNC_REQUEST] = WHEEL_SYNC_REQUEST_BYTES,
                                            [WHEEL_SELF_TEST_REQUEST] = WHEEL_SELF_TEST_REQUEST_BYTES};
    const uint8_t type = message[0];
    if ((type < WHEEL_HELLO) || (type > WHEEL_SELF_TEST_REQUEST)) {
        return READING_UNKNOWN_TYPE;
    }
    if (length != message_bytes[type]) {
        return READING_WRONG_LENGTH;
    }
    *told = (struct host_message){.type = type};
    if (type == WHEEL_HELLO) {
        told->token = (uint32_t)number_at(message + WHEEL_HELLO_AT_TOKEN, 4);
        told->version_min = message[WHEEL_HELLO_AT_VERSION_MIN];
        told->version_max = message[WHEEL_HELLO_AT_VERSION_MAX];
        if ((told->version_min < 1u) || (told->version_min > told->version_max)) {
            return READING_WRONG_VALUE;
        }
    } else if (type == WHEEL_SYNC_REQUEST) {
        told->number = number_at(message + WHEEL_SYNC_REQUEST_AT_TOKEN, 8);
    } else if (type == WHEEL_SELF_TEST_REQUEST) {
        told->token = (uint32_t)number_at(message + WHEEL_SELF_TEST_REQUEST_AT_TOKEN, 4);
    } else {
        told->boot_id = (uint32_t)number_at(message + WHEEL_ACK_AT_BOOT_ID, 4); /* Replay has its fields there, too */
        told->number = number_at(message + WHEEL_ACK_AT_NEXT_SEQ, 8);
    }
    return READING_GOOD;
}

/* Sending */

static void put(struct frame *frame, uint64_t number, uint8_t size)
{
    uint64_t rest = number;
    for (uint8_t at = 0; at < size; at++) {
        frame->bytes[frame->length] = (uint8_t)(rest & 0xffu);
        frame->length++;
        rest >>= 8;
    }
}

static void begin(struct frame *frame, uint8_t type)
{
    frame->length = MESSAGE_AT;
    frame->sent = 0;
    put(frame, type, 1);
}

void codec_end(struct frame *frame)
{
    put(frame, codec_crc32(frame->bytes + MESSAGE_AT, (uint8_t)(frame->length - MESSAGE_AT)), CRC_BYTES);
    uint16_t code_at = 0;
    for (uint16_t at = MESSAGE_AT; at < frame->length; at++) {
        if (frame->bytes[at] == 0u) {
            frame->bytes[code_at] = (uint8_t)(at - code_at);
            code_at = at;
        }
    }
    frame->bytes[code_at] = (uint8_t)(frame->length - code_at);
    put(frame, 0, 1);
}

void codec_identity(struct frame *frame, const struct identity *identity, uint32_t token, uint8_t version,
                    uint32_t boot_id, const struct numbers *numbers)
{
    begin(frame, WHEEL_IDENTITY);
    put(frame, token, 4);
    put(frame, version, 1);
    put(frame, WHEEL_VERSION, 1);
    put(frame, WHEEL_VERSION, 1);
    put(frame, boot_id, 4);
    put(frame, numbers->oldest_seq, 8);
    put(frame, numbers->acked_seq, 8);
    put(frame, numbers->next_seq, 8);
    for (uint8_t at = 0; at < WHEEL_TEXT_BYTES; at++) {
        put(frame, (uint8_t)identity->serial[at], 1);
    }
    for (uint8_t at = 0; at < WHEEL_TEXT_BYTES; at++) {
        put(frame, (uint8_t)identity->firmware[at], 1);
    }
    for (uint8_t at = 0; at < HASH_BYTES; at++) {
        put(frame, identity->config_hash[at], 1);
    }
    put(frame, identity->ring_events, 2);
    put(frame, identity->top_rate, 2);
    put(frame, identity->layout.beams, 1);
    put(frame, identity->layout.readers, 1);
    put(frame, identity->layout.rotor_ticks, 2);
    put(frame, identity->layout.object_sensor ? 1u : 0u, 1);
    put(frame, identity->layout.door_switch ? 1u : 0u, 1);
    codec_end(frame);
}

void codec_heartbeat(struct frame *frame, uint32_t boot_id, uint64_t board_us, const struct numbers *numbers,
                     const struct counters *counters, const struct levels *levels)
{
    begin(frame, WHEEL_HEARTBEAT);
    put(frame, boot_id, 4);
    put(frame, board_us, 8);
    put(frame, numbers->oldest_seq, 8);
    put(frame, numbers->acked_seq, 8);
    put(frame, numbers->sent_seq, 8);
    put(frame, numbers->next_seq, 8);
    put(frame, counters->rejected_frames, 4);
    put(frame, counters->overwritten_events, 4);
    put(frame, counters->missed_edges, 4);
    put(frame, levels->beams_blocked, 2);
    put(frame, levels->readers_blocked, 2);
    put(frame, levels->buttons_held, 2);
    put(frame, levels->object, 1);
    put(frame, levels->door, 1);
    codec_end(frame);
}

void codec_sync_reply(struct frame *frame, uint32_t boot_id, uint64_t token, uint64_t rx_us, uint64_t tx_us)
{
    begin(frame, WHEEL_SYNC_REPLY);
    put(frame, boot_id, 4);
    put(frame, token, 8);
    put(frame, rx_us, 8);
    put(frame, tx_us, 8);
    codec_end(frame);
}

void codec_begin_events(struct frame *frame, uint32_t boot_id, uint64_t first_seq, uint64_t first_us)
{
    begin(frame, WHEEL_EVENTS);
    put(frame, boot_id, 4);
    put(frame, first_seq, 8);
    put(frame, first_us, 8);
}

void codec_event(struct frame *frame, uint32_t delta_us, uint8_t kind, uint8_t value, uint16_t index)
{
    put(frame, delta_us, 4);
    put(frame, kind, 1);
    put(frame, value, 1);
    put(frame, index, 2);
}

void codec_begin_self_test_result(struct frame *frame, uint32_t boot_id, uint32_t token, uint64_t board_us)
{
    begin(frame, WHEEL_SELF_TEST_RESULT);
    put(frame, boot_id, 4);
    put(frame, token, 4);
    put(frame, board_us, 8);
}

void codec_sensor(struct frame *frame, uint8_t kind, bool works, uint16_t index)
{
    put(frame, kind, 1);
    put(frame, works ? 1u : 0u, 1);
    put(frame, index, 2);
}
