/* The port for the RP2040 (a Raspberry Pi Pico), with the lines of board_config.h. It speaks to the host through uart.c
   or usb.c: one of them is linked.

   One interrupt dates all edges with the timer, which counts microseconds, and puts them into a list. It has the
   highest priority, and the program never locks interrupts out. So nothing else delays a date. The other two interrupts
   only wake the processor. */
#include "board_config.h"
#include "cortex_m.h"
#include "host_line.h"
#include "rp2040.h"

#define WAKE_US 2000u /* the FIFO of the UART is full after 2.7 ms */
#define WATCHDOG_LOAD_1_S 2000000u /* the watchdog counts each microsecond twice (erratum RP2040-E1) */
#define WORDS 4u
#define PINS_PER_WORD 8u
#define BITS_PER_PIN 4u

static const struct pin *pin_of[WORDS * PINS_PER_WORD];

void reset(void);
void on_pins(void);
void on_timer(void);

static const struct {
    void *stack;
    void (*handlers[15 + 26])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    .stack = image_stack,
    .handlers = {HANDLER(1u) = reset,
                 INTERRUPT(IRQ_TIMER0) = on_timer,
                 INTERRUPT(IRQ_USB) = on_host_line,
                 INTERRUPT(IRQ_IO_BANK0) = on_pins,
                 INTERRUPT(IRQ_UART0) = on_host_line},
};

/* An interrupt may also read the time, at any moment. So this does not use the pair of registers that latches. */
uint64_t port_now_us(void)
{
    uint32_t high;
    uint32_t low;
    do {
        high = REGISTER(TIMER_RAW_HIGH);
        low = REGISTER(TIMER_RAW_LOW);
    } while (high != REGISTER(TIMER_RAW_HIGH));
    return ((uint64_t)high << 32) | low;
}

static bool is_high(const struct pin *pin)
{
    return ((REGISTER(SIO_GPIO_IN) >> pin->pin) & 1u) != 0u;
}

void on_pins(void)
{
    const uint64_t at_us = port_now_us();
    for (uint32_t word = 0; word < WORDS; word++) {
        uint32_t edge_bits = IO_INTS(word); /* only of pins that have a line, because only these are enabled */
        IO_INTR(word) = edge_bits;
        for (const struct pin *const *pin = &pin_of[word * PINS_PER_WORD]; edge_bits != 0u; pin++) {
            const uint32_t edge = edge_bits & (IO_EDGE_LOW | IO_EDGE_HIGH);
            if (edge == (IO_EDGE_LOW | IO_EDGE_HIGH)) {
                put_both(*pin, is_high(*pin), at_us);
            } else if (edge != 0u) {
                put_edge(*pin, edge == IO_EDGE_HIGH, at_us);
            } else {
                /* this pin has no edge */
            }
            edge_bits >>= BITS_PER_PIN;
        }
    }
}

void on_timer(void)
{
    REGISTER(TIMER_INTR) = 1u;
}

/* Random bits of the ring oscillator, plus the number of boots since power-on. */
uint32_t port_new_boot_id(void)
{
    uint32_t random = 0;
    for (uint32_t bit = 0; bit < 32u; bit++) {
        for (volatile uint32_t wait = 0; wait < 10u; wait++) {
        }
        random = (random << 1) | (REGISTER(ROSC_RANDOM_BIT) & 1u);
    }
    REGISTER(WATCHDOG_SCRATCH0)++;
    return random + REGISTER(WATCHDOG_SCRATCH0);
}

void port_idle(void)
{
    REGISTER(WATCHDOG_LOAD) = WATCHDOG_LOAD_1_S;
    if (host_line_rests() && (edges_out == edges_in)) {
        REGISTER(TIMER_ALARM0) = REGISTER(TIMER_RAW_LOW) + WAKE_US;
        __asm volatile("wfi"); /* an edge that came just before this has its date, and waits at most for WAKE_US */
    }
}

void start_blocks(uint32_t blocks)
{
    SET(RESETS) = blocks & ~RESET_TIMER; /* after a watchdog reset the blocks may be on */
    CLEAR(RESETS) = blocks;
    while ((REGISTER(RESETS_DONE) & blocks) != blocks) {
    }
}

void start_pll(uint32_t pll, uint32_t factor, uint32_t divider_1, uint32_t divider_2)
{
    REGISTER(pll + PLL_CS) = 1u;
    REGISTER(pll + PLL_FBDIV) = factor;
    CLEAR(pll + PLL_PWR) = 0x21u;
    while ((REGISTER(pll + PLL_CS) >> 31) == 0u) {
    }
    REGISTER(pll + PLL_PRIM) = (divider_1 << 16) | (divider_2 << 12);
    CLEAR(pll + PLL_PWR) = 0x08u;
}

void start_line_interrupt(uint32_t number)
{
    NVIC_IPR(number / 4u) = 0xc0c0c0c0u;
    REGISTER(NVIC_ISER) = 1u << number;
}

/* From a crystal of 12 MHz: 125 MHz for the processor and the UART, 1 MHz for the timer and the watchdog. */
static void start_clocks(void)
{
    REGISTER(XOSC_STARTUP) = 47u; /* 1 ms */
    REGISTER(XOSC_CTRL) = 0xfabaa0u;
    while ((REGISTER(XOSC_STATUS) >> 31) == 0u) {
    }
    REGISTER(CLOCK_REF_CTRL) = 2u;
    while ((REGISTER(CLOCK_REF_SELECTED) & 4u) == 0u) {
    }
    start_pll(PLL_SYS, 125u, 6u, 2u);
    REGISTER(CLOCK_SYS_CTRL) = 1u;
    while ((REGISTER(CLOCK_SYS_SELECTED) & 2u) == 0u) {
    }
    REGISTER(CLOCK_PERI_CTRL) = CLOCK_ENABLE;
    REGISTER(WATCHDOG_TICK) = 12u | (1u << 9);
}

static void start_pins(void)
{
    for (const struct pin *pin = pins; pin < pins + USED; pin++) {
        IO_CTRL(pin->pin) = IO_FUNCTION_SIO;
        PAD(pin->pin) = PAD_INPUT_PULL_UP_SCHMITT;
        pin_of[pin->pin] = pin;
    }
}

/* This comes before the lines are read for the first time, so that no edge between is missed. */
static void start_interrupts(void)
{
    for (const struct pin *pin = pins; pin < pins + USED; pin++) {
        const uint32_t both = (IO_EDGE_LOW | IO_EDGE_HIGH) << (pin->pin % PINS_PER_WORD * BITS_PER_PIN);
        IO_INTR(pin->pin / PINS_PER_WORD) = both;
        IO_INTE(pin->pin / PINS_PER_WORD) |= both;
    }
    REGISTER(TIMER_INTE) = 1u;
    NVIC_IPR(IRQ_TIMER0 / 4u) = 0xc0c0c0c0u;
    REGISTER(NVIC_ISER) = (1u << IRQ_TIMER0) | (1u << IRQ_IO_BANK0);
    __asm volatile("cpsie i");
}

void reset(void)
{
    start_memory();
    start_blocks(RESET_IO_BANK0 | RESET_PADS_BANK0 | RESET_PLL_SYS | RESET_TIMER);
    start_clocks();
    start_pins();
    start_interrupts();
    start_host_line();
    REGISTER(PSM_WDSEL) = 0x1fffcu; /* a watchdog reset does not reset the oscillators */
    REGISTER(WATCHDOG_LOAD) = WATCHDOG_LOAD_1_S;
    REGISTER(WATCHDOG_CTRL) = 1u << 30;
    board_start(&identity, CONFIG_ZERO_TICK);
    for (;;) {
        board_run();
        port_idle();
    }
}
