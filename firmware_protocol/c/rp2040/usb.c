/* The line to the host through USB: a serial port of the class CDC-ACM, as small as Linux's cdc_acm accepts it.

   The controller answers the host by itself, with buffers of 64 bytes. The interrupt only wakes the processor; then
   host_line_rests processes what has come. No function waits for the host: if the host does not fetch a packet, the
   packet stays, and the board's next bytes wait. A packet that was not fetched before a reset of the bus is sent again
   after it. */
#include "board_config.h"
#include "host_line.h"
#include "port.h"
#include "rp2040.h"

/* This pair of numbers is for trials (pid.codes): a product needs its own. */
#define VENDOR 0x1209u
#define PRODUCT 0x0001u
#define PACKET_BYTES 64u
#define SENT_BYTES 63u /* after a packet that is not full, the host does not wait for another one */
#define NOTICES 1u     /* an endpoint that cdc_acm needs; nothing is ever sent there */
#define BYTES 2u
#define DATA_IN 0x180u
#define DATA_OUT 0x1c0u
#define DATA_NOTICES 0x200u
/* A packet that is handed over in the last 200 us of a frame may stop the controller for ever (erratum RP2040-E15). A
   frame has 1000 us. */
#define FRAME_US 700u

#define LOW(number) ((number) & 0xffu)
#define HIGH(number) ((number) >> 8)

/* A request, with its type. */
#define REQUEST(type, request) ((type) | ((request) << 8))
#define GET_STATUS 0u
#define CLEAR_FEATURE 1u
#define SET_ADDRESS 5u
#define GET_DESCRIPTOR 6u
#define GET_CONFIGURATION 8u
#define SET_CONFIGURATION 9u
#define SET_LINE_CODING 0x20u
#define GET_LINE_CODING 0x21u
#define SET_CONTROL_LINE_STATE 0x22u

#define DEVICE 1u
#define CONFIGURATION 2u
#define STRING 3u

static const uint8_t device[] = {
    18, DEVICE, 0x00, 0x02, 2, 0, 0, PACKET_BYTES, /* USB 2.0, communications */
    LOW(VENDOR), HIGH(VENDOR), LOW(PRODUCT), HIGH(PRODUCT), 0x00, 0x01, 1, 2, 3, 1, /* three strings */
};

/* This answer fits into one packet, like all other answers. */
static const uint8_t configuration[] = {
    9, CONFIGURATION, 62, 0, 2, 1, 0, 0x80, 50, /* two interfaces; 100 mA from the bus */
    9, 4, 0, 0, 1, 2, 2, 0, 0,                  /* interface 0: control of a line, without a protocol */
    5, 0x24, 0, 0x10, 0x01,                     /* CDC 1.1 */
    4, 0x24, 2, 2,                              /* it knows the requests of line coding and line state */
    5, 0x24, 6, 0, 1,                           /* interface 1 belongs to interface 0 */
    7, 5, 0x80u | NOTICES, 3, 8, 0, 255,
    9, 4, 1, 0, 2, 10, 0, 0, 0,                 /* interface 1: data */
    7, 5, 0x80u | BYTES, 2, PACKET_BYTES, 0, 0,
    7, 5, BYTES, 2, PACKET_BYTES, 0, 0,
};

static const uint8_t languages[] = {4, STRING, 0x09, 0x04};
/* udev makes ID_VENDOR, ID_MODEL and ID_SERIAL_SHORT from these. */
static const char *const strings[] = {"wheeld", "board", CONFIG_SERIAL};
#define STRINGS (sizeof strings / sizeof strings[0])

static struct {
    uint32_t bytes;
    uint32_t data1; /* the toggle bit of the next packet */
    bool waits;     /* the packet waits until the host fetches it */
} to_host;

static struct {
    uint32_t bytes;
    uint32_t taken;
    uint32_t data1;
} from_host;

static bool configured;
static bool sends_answer;     /* an answer is sent, and the host must confirm it with an empty packet */
static bool takes_line_coding;
static uint8_t next_address;  /* the address from the moment at which the host has seen the answer; 0: no new one */
static uint8_t line_coding[7]; /* kept for the host, without any effect */
static volatile uint32_t frame_at_us;

static volatile uint8_t *data_at(uint32_t offset)
{
    return (volatile uint8_t *)(USB_DATA + offset);
}

/* The controller has its own clock. All other bits must be there for three of its cycles before the bit that makes it
   look at them. */
static void hand_over(uint32_t buffer, uint32_t what)
{
    REGISTER(buffer) = what;
    __asm volatile(".rept 12\n nop\n .endr");
    REGISTER(buffer) = what | USB_BUFFER_AVAILABLE;
}

/* The answer to a request */

static void answer(const uint8_t *from, uint32_t bytes, uint32_t asked)
{
    const uint32_t sent = (bytes < asked) ? bytes : asked;
    for (uint32_t at = 0; at < sent; at++) {
        data_at(USB_DATA_0)[at] = from[at];
    }
    sends_answer = true;
    hand_over(USB_BUFFER_IN(0u), USB_BUFFER_FULL | USB_BUFFER_DATA1 | sent);
}

static void confirm(void)
{
    hand_over(USB_BUFFER_IN(0u), USB_BUFFER_FULL | USB_BUFFER_DATA1);
}

static void refuse(void)
{
    REGISTER(USB_STALL_0) = 3u;
    REGISTER(USB_BUFFER_IN(0u)) = USB_BUFFER_STALL;
    REGISTER(USB_BUFFER_OUT(0u)) = USB_BUFFER_STALL;
}

static void answer_string(uint32_t number, uint32_t asked)
{
    uint8_t made[PACKET_BYTES];
    uint32_t bytes = 2;
    for (const char *from = strings[number - 1u]; (*from != '\0') && (bytes < sizeof made); from++) {
        made[bytes] = (uint8_t)*from;
        made[bytes + 1u] = 0;
        bytes += 2u;
    }
    made[0] = (uint8_t)bytes;
    made[1] = STRING;
    answer(made, bytes, asked);
}

static void answer_descriptor(uint32_t type, uint32_t number, uint32_t asked)
{
    if (type == DEVICE) {
        answer(device, sizeof device, asked);
    } else if (type == CONFIGURATION) {
        answer(configuration, sizeof configuration, asked);
    } else if ((type == STRING) && (number == 0u)) {
        answer(languages, sizeof languages, asked);
    } else if ((type == STRING) && (number <= STRINGS)) {
        answer_string(number, asked);
    } else {
        refuse();
    }
}

/* The stream of bytes */

static void take_packets(void)
{
    hand_over(USB_BUFFER_OUT(BYTES), from_host.data1 | PACKET_BYTES);
    from_host.data1 ^= USB_BUFFER_DATA1;
}

static void begin_to_host(void)
{
    REGISTER(USB_BUFFER_IN(BYTES)) = 0;
    to_host.data1 = 0;
    to_host.waits = false; /* a packet that was not fetched is handed over again */
}

static void begin_from_host(void)
{
    from_host.data1 = 0;
    take_packets();
}

static void end_stream(void)
{
    configured = false;
    REGISTER(USB_BUFFER_OUT(BYTES)) = 0;
    begin_to_host();
}

/* What the host has sent */

static void on_request(void)
{
    static const uint8_t no_status[2] = {0, 0};
    const uint32_t first = REGISTER(USB_SETUP);
    const uint32_t second = REGISTER(USB_SETUP + 4u);
    const uint32_t value = first >> 16;
    const uint32_t asked = second >> 16;
    const uint8_t is_configured = configured ? 1u : 0u;
    REGISTER(USB_BUFFER_IN(0u)) = 0; /* drops the answer to an older request */
    REGISTER(USB_BUFFER_OUT(0u)) = 0;
    sends_answer = false;
    takes_line_coding = false;
    switch (first & 0xffffu) {
    case REQUEST(0x80u, GET_DESCRIPTOR):
        answer_descriptor(HIGH(value), LOW(value), asked);
        break;
    case REQUEST(0x00u, SET_ADDRESS):
        next_address = (uint8_t)(value & 0x7fu);
        confirm();
        break;
    case REQUEST(0x00u, SET_CONFIGURATION):
        end_stream();
        if (value == 1u) {
            begin_from_host();
            configured = true;
        }
        confirm();
        break;
    case REQUEST(0x80u, GET_CONFIGURATION):
        answer(&is_configured, 1, asked);
        break;
    case REQUEST(0x80u, GET_STATUS): /* these three: of the device, an interface, an endpoint */
    case REQUEST(0x81u, GET_STATUS):
    case REQUEST(0x82u, GET_STATUS):
        answer(no_status, sizeof no_status, asked);
        break;
    case REQUEST(0x02u, CLEAR_FEATURE): /* no endpoint is ever halted, but the toggle bit begins again */
        if (configured && (LOW(second) == (0x80u | BYTES))) {
            begin_to_host();
        } else if (configured && (LOW(second) == BYTES)) {
            begin_from_host();
        } else {
            /* no other endpoint has a toggle bit */
        }
        confirm();
        break;
    case REQUEST(0x21u, SET_LINE_CODING):
        takes_line_coding = true;
        hand_over(USB_BUFFER_OUT(0u), USB_BUFFER_DATA1 | PACKET_BYTES);
        break;
    case REQUEST(0xa1u, GET_LINE_CODING):
        answer(line_coding, sizeof line_coding, asked);
        break;
    case REQUEST(0x21u, SET_CONTROL_LINE_STATE): /* the board does not wait for DTR */
        confirm();
        break;
    default:
        refuse();
        break;
    }
}

static void on_done(uint32_t done)
{
    if ((done & USB_DONE_IN(0u)) != 0u) {
        if (next_address != 0u) {
            REGISTER(USB_ADDRESS) = next_address;
            next_address = 0;
        }
        if (sends_answer) {
            sends_answer = false;
            hand_over(USB_BUFFER_OUT(0u), USB_BUFFER_DATA1 | PACKET_BYTES);
        }
    }
    if (((done & USB_DONE_OUT(0u)) != 0u) && takes_line_coding) {
        takes_line_coding = false;
        for (uint32_t at = 0; at < sizeof line_coding; at++) {
            line_coding[at] = data_at(USB_DATA_0)[at];
        }
        confirm();
    }
    if ((done & USB_DONE_IN(BYTES)) != 0u) {
        to_host.waits = false;
        to_host.bytes = 0;
        to_host.data1 ^= USB_BUFFER_DATA1;
    }
    if ((done & USB_DONE_OUT(BYTES)) != 0u) {
        from_host.taken = 0;
        from_host.bytes = REGISTER(USB_BUFFER_OUT(BYTES)) & USB_BUFFER_BYTES;
        if (from_host.bytes > PACKET_BYTES) {
            from_host.bytes = PACKET_BYTES;
        }
        if (from_host.bytes == 0u) {
            take_packets();
        }
    }
}

static void on_reset(void)
{
    REGISTER(USB_ADDRESS) = 0;
    next_address = 0;
    end_stream();
}

bool host_line_rests(void)
{
    const uint32_t done = REGISTER(USB_DONE);
    const uint32_t status = REGISTER(USB_SIE_STATUS);
    /* Process one thing at a time. The board takes its bytes before the next thing. */
    if (done != 0u) {
        REGISTER(USB_DONE) = done;
        on_done(done);
        return false;
    }
    if ((status & USB_SIE_RESET) != 0u) {
        REGISTER(USB_SIE_STATUS) = USB_SIE_RESET;
        on_reset();
        return false;
    }
    if ((status & USB_SIE_SETUP) != 0u) {
        REGISTER(USB_SIE_STATUS) = USB_SIE_SETUP;
        on_request();
        return false;
    }
    uint32_t wakes = USB_INT_DONE | USB_INT_RESET | USB_INT_SETUP;
    if (configured && (to_host.bytes > 0u) && !to_host.waits) {
        if (REGISTER(TIMER_RAW_LOW) - frame_at_us < FRAME_US) {
            to_host.waits = true;
            hand_over(USB_BUFFER_IN(BYTES), USB_BUFFER_FULL | to_host.data1 | to_host.bytes);
        } else {
            (void)REGISTER(USB_FRAME_NUMBER); /* clears the interrupt, so that only the next frame wakes us */
            wakes |= USB_INT_FRAME;
        }
    }
    REGISTER(USB_INTE) = wakes;
    return true;
}

void on_host_line(void)
{
    if ((REGISTER(USB_INTS) & USB_INT_FRAME) != 0u) {
        frame_at_us = REGISTER(TIMER_RAW_LOW);
    }
    REGISTER(USB_INTE) = 0; /* no more interrupts until host_line_rests */
}

bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if (from_host.taken == from_host.bytes) {
        return false;
    }
    *byte = data_at(DATA_OUT)[from_host.taken];
    *at_us = port_now_us();
    from_host.taken++;
    if ((from_host.taken == from_host.bytes) && configured) {
        take_packets();
    }
    return true;
}

bool port_transmit(uint8_t byte)
{
    if (to_host.waits || (to_host.bytes == SENT_BYTES)) {
        return false;
    }
    data_at(DATA_IN)[to_host.bytes] = byte;
    to_host.bytes++;
    return true;
}

void start_host_line(void)
{
    start_blocks(RESET_PLL_USB | RESET_USB);
    start_pll(PLL_USB, 100u, 5u, 5u); /* 48 MHz */
    REGISTER(CLOCK_USB_CTRL) = CLOCK_ENABLE;
    for (uint32_t endpoint = 0; endpoint < 16u; endpoint++) {
        REGISTER(USB_ENDPOINT_IN(endpoint)) = 0;
        REGISTER(USB_ENDPOINT_OUT(endpoint)) = 0;
        REGISTER(USB_BUFFER_IN(endpoint)) = 0;
        REGISTER(USB_BUFFER_OUT(endpoint)) = 0;
    }
    REGISTER(USB_ENDPOINT_IN(NOTICES)) = USB_ENDPOINT_ON | USB_INTERRUPT | DATA_NOTICES;
    REGISTER(USB_ENDPOINT_IN(BYTES)) = USB_ENDPOINT_ON | USB_BULK | DATA_IN;
    REGISTER(USB_ENDPOINT_OUT(BYTES)) = USB_ENDPOINT_ON | USB_BULK | DATA_OUT;
    REGISTER(USB_MUXING) = 9u; /* connects the controller to the chip's own pins */
    REGISTER(USB_PWR) = 0xcu;  /* tells the controller that the bus has power, without looking */
    REGISTER(USB_MAIN_CTRL) = 1u;
    start_line_interrupt(IRQ_USB);
    REGISTER(USB_SIE_CTRL) = USB_SIE_INTERRUPT_0 | USB_SIE_PULL_UP; /* from here on the host sees a device */
}
