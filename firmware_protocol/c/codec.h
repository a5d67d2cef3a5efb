/* Frames and messages of the wire, version 1: ../README.md. This code runs on any platform, allocates no memory, and
   keeps no state of its own. */
#ifndef CODEC_H
#define CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "wheel_protocol.h"

#define CRC_BYTES 4u
#define ENCODED_BYTES_MAX (WHEEL_MESSAGE_BYTES_MAX + CRC_BYTES + 1u) /* of an encoded message, without the delimiter */
#define FRAME_BYTES_MAX (ENCODED_BYTES_MAX + 1u)                     /* of a frame, with its delimiter */
#define HASH_BYTES 8u
/* The longest frame that is read. A port with little memory sets a smaller number, because no message from a host has
   more than 18 bytes. */
#ifndef RECEIVER_BYTES
#define RECEIVER_BYTES ENCODED_BYTES_MAX
#endif

/* The bytes of one frame. The transmitter has taken the first `sent` of them. */
struct frame {
    uint8_t bytes[FRAME_BYTES_MAX];
    uint16_t length;
    uint16_t sent;
};

struct event {
    uint64_t at_us;
    uint8_t kind;
    uint8_t value;
    uint16_t index;
};

struct layout {
    uint8_t beams;
    uint8_t readers;
    uint16_t rotor_ticks;
    bool object_sensor;
    bool door_switch;
};

struct identity {
    char serial[WHEEL_TEXT_BYTES];
    char firmware[WHEEL_TEXT_BYTES];
    uint8_t config_hash[HASH_BYTES];
    uint16_t ring_events;
    uint16_t top_rate; /* events a second */
    struct layout layout;
};

struct levels {
    uint16_t beams_blocked;
    uint16_t readers_blocked;
    uint16_t buttons_held;
    uint8_t object;
    uint8_t door;
};

struct numbers {
    uint64_t oldest_seq;
    uint64_t acked_seq;
    uint64_t sent_seq;
    uint64_t next_seq;
};

struct counters {
    uint32_t rejected_frames;
    uint32_t overwritten_events;
    uint32_t missed_edges;
};

/* A message of the host. Fields that its type does not have are 0. */
struct host_message {
    uint8_t type;
    uint8_t version_min; /* Hello */
    uint8_t version_max; /* Hello */
    uint32_t boot_id;    /* Ack, Replay */
    uint32_t token;      /* Hello, SelfTestRequest */
    uint64_t number;     /* next_seq of Ack, from_seq of Replay, token of SyncRequest */
};

enum receipt {
    RECEIPT_NOTHING,  /* the frame is not complete, or it is empty */
    RECEIPT_MESSAGE,  /* a message is in `message` of the receiver, until the next byte comes */
    RECEIPT_TOO_LONG, /* the frame is too long: returned once for each such frame, at its first byte too many */
    RECEIPT_NOT_COBS,
    RECEIPT_SHORT,
    RECEIPT_WRONG_CRC
};

/* Finds the frames in a stream of bytes. Set all members to zero before the first byte. */
struct receiver {
    uint8_t bytes[RECEIVER_BYTES];
    uint16_t length; /* of the frame that is not complete yet */
    bool skips;      /* the next bytes are the rest of a frame that is too long */
    uint8_t message_bytes;
    const uint8_t *message;
};

enum reading { READING_GOOD, READING_UNKNOWN_TYPE, READING_WRONG_LENGTH, READING_WRONG_VALUE };

uint32_t codec_crc32(const uint8_t *bytes, uint8_t length);

enum receipt receiver_feed(struct receiver *receiver, uint8_t byte);

/* Reads a message of the host into `told`, which is complete only after READING_GOOD. */
enum reading codec_read(const uint8_t *message, uint8_t length, struct host_message *told);

/* Each of these functions writes a whole frame, of which no byte is sent yet. */
void codec_identity(struct frame *frame, const struct identity *identity, uint32_t token, uint8_t version,
                    uint32_t boot_id, const struct numbers *numbers);
void codec_heartbeat(struct frame *frame, uint32_t boot_id, uint64_t board_us, const struct numbers *numbers,
                     const struct counters *counters, const struct levels *levels);
void codec_sync_reply(struct frame *frame, uint32_t boot_id, uint64_t token, uint64_t rx_us, uint64_t tx_us);

/* Two messages consist of records. Call the function that begins the message, then codec_event at most WHEEL_EVENTS_MAX
   times or codec_sensor for each sensor of the layout, then codec_end. */
void codec_begin_events(struct frame *frame, uint32_t boot_id, uint64_t first_seq, uint64_t first_us);
void codec_event(struct frame *frame, uint32_t delta_us, uint8_t kind, uint8_t value, uint16_t index);
void codec_begin_self_test_result(struct frame *frame, uint32_t boot_id, uint32_t token, uint64_t board_us);
void codec_sensor(struct frame *frame, uint8_t kind, bool works, uint16_t index);
void codec_end(struct frame *frame);

#endif
