/* The port for the STM32F205 at 120 MHz: USART1 at 115200 baud, with the lines of board_config.h on pins of port C.

   TIM2 counts microseconds. The interrupts of the pins have the highest priority. They date an edge and put it into a
   list. Each pin has a flag. If the flag is set but the level is the same, two edges came before the interrupt.

   Option bytes: BOR_LEV 0 (brown-out below 2.7 V). */
#include "board_config.h"
#include "cortex_m.h"
#include "stm32f205.h"

#define RECEIVED 256u /* the UART itself keeps only one byte; must be a power of two */
#define WAKE_CYCLES 240000u /* 2 ms */
#define TRIES_MAX 1000000u
#define PINS 16u

static const struct pin *pin_of[PINS];

struct received {
    uint64_t at_us;
    uint8_t byte;
};

/* The interrupt writes received_in, and the board writes received_out. */
static struct received received[RECEIVED];
static volatile uint32_t received_in;
static volatile uint32_t received_out;
static volatile uint32_t high_us; /* the number of overflows of TIM2 */
static uint32_t levels;           /* the levels of the pins after the latest edges in the list */
static bool sends;                /* a byte waits for the transmitter */
/* The number of boots. It survives a reset, and makes boot ids differ if there are no random numbers. */
static uint32_t boots __attribute__((section(".noinit")));

void reset(void);
void on_pins(void);
void on_overflow(void);
void on_uart(void);
void on_tick(void);

static const struct {
    void *stack;
    void (*handlers[15u + IRQS])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    .stack = image_stack,
    .handlers = {HANDLER(1u) = reset,
                 HANDLER(15u) = on_tick,
                 INTERRUPT(IRQ_EXTI0) = on_pins,
                 INTERRUPT(IRQ_EXTI1) = on_pins,
                 INTERRUPT(IRQ_EXTI2) = on_pins,
                 INTERRUPT(IRQ_EXTI3) = on_pins,
                 INTERRUPT(IRQ_EXTI4) = on_pins,
                 INTERRUPT(IRQ_EXTI9_5) = on_pins,
                 INTERRUPT(IRQ_EXTI15_10) = on_pins,
                 INTERRUPT(IRQ_TIM2) = on_overflow,
                 INTERRUPT(IRQ_USART1) = on_uart},
};

/* An interrupt may also call this, when the interrupt of an overflow has not run yet. */
uint64_t port_now_us(void)
{
    uint32_t high;
    uint32_t low;
    bool waits;
    do {
        high = high_us;
        low = REGISTER(TIM2_CNT);
        waits = (REGISTER(TIM2_SR) & TIM_UPDATE) != 0u;
    } while (high != high_us);
    if (waits && (low < 0x80000000u)) {
        high++;
    }
    return ((uint64_t)high << 32) | low;
}

static bool is_high(const struct pin *pin)
{
    return ((REGISTER(GPIOC_IDR) >> pin->pin) & 1u) != 0u;
}

void on_pins(void)
{
    const uint64_t at_us = port_now_us();
    const uint32_t edge_bits = REGISTER(EXTI_PR); /* only of pins that have a line, because only these are enabled */
    REGISTER(EXTI_PR) = edge_bits;
    const uint32_t now = REGISTER(GPIOC_IDR);
    const uint32_t same = edge_bits & ~(now ^ levels); /* these changed and changed back before the interrupt */
    levels = (levels & ~edge_bits) | (now & edge_bits);
    for (uint32_t bit = 0; (edge_bits >> bit) != 0u; bit++) {
        const struct pin *const pin = pin_of[bit];
        const bool high = ((now >> bit) & 1u) != 0u;
        if (((edge_bits >> bit) & 1u) == 0u) {
            continue;
        }
        if (((same >> bit) & 1u) == 0u) {
            put_edge(pin, high, at_us);
        } else {
            put_both(pin, high, at_us);
        }
    }
}

void on_overflow(void)
{
    /* The flag may still be set when this function returns. Then it runs a second time. */
    if ((REGISTER(TIM2_SR) & TIM_UPDATE) != 0u) {
        REGISTER(TIM2_SR) = ~TIM_UPDATE;
        high_us++;
    }
}

void on_uart(void)
{
    const uint32_t status = REGISTER(USART1_SR);
    if ((status & (USART_RXNE | USART_ORE)) != 0u) {
        const uint32_t data = REGISTER(USART1_DR); /* also with an error of the line: the CRC finds the error */
        if (((status & USART_RXNE) != 0u) && (received_in - received_out < RECEIVED)) {
            received[received_in % RECEIVED] = (struct received){.at_us = port_now_us(), .byte = (uint8_t)data};
            received_in++;
        }
    }
    REGISTER(USART1_CR1) = USART_ON | USART_RXNE; /* port_idle enables the transmitter's interrupt again */
}

void on_tick(void) {}

bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if (received_out == received_in) {
        return false;
    }
    *byte = received[received_out % RECEIVED].byte;
    *at_us = received[received_out % RECEIVED].at_us;
    received_out++;
    return true;
}

bool port_transmit(uint8_t byte)
{
    sends = (REGISTER(USART1_SR) & USART_TXE) == 0u;
    if (sends) {
        return false;
    }
    REGISTER(USART1_DR) = byte;
    return true;
}

/* Waits for these bits, but not for ever, because QEMU has no clocks and no random numbers. If the crystal of a real
   board does not start, the wrong baud rate shows it: the host understands nothing. */
static void wait_for(uint32_t address, uint32_t bits)
{
    for (uint32_t tries = 0; (tries < TRIES_MAX) && ((REGISTER(address) & bits) != bits); tries++) {
    }
}

uint32_t port_new_boot_id(void)
{
    REGISTER(RNG_CR) = 1u << 2;
    wait_for(RNG_SR, 1u);
    boots++;
    return REGISTER(RNG_DR) + boots;
}

/* An interrupt that comes while interrupts are locked out still wakes the processor. It runs after that. */
void port_idle(void)
{
    REGISTER(IWDG_KR) = 0xaaaau;
    __asm volatile("cpsid i");
    if ((edges_out == edges_in) && (received_out == received_in)) {
        REGISTER(USART1_CR1) = USART_ON | USART_RXNE | (sends ? USART_TXE : 0u);
        __asm volatile("wfi");
    }
    __asm volatile("cpsie i");
}

/* 120 MHz for the processor, 60 MHz for TIM2 and USART1, 48 MHz for the random numbers. */
static void start_clocks(void)
{
    REGISTER(RCC_CR) |= 1u << 16;
    wait_for(RCC_CR, 1u << 17);
    REGISTER(RCC_PLLCFGR) = CONFIG_CRYSTAL_MHZ | (240u << 6) | (1u << 22) | (5u << 24);
    REGISTER(RCC_CR) |= 1u << 24;
    wait_for(RCC_CR, 1u << 25);
    REGISTER(FLASH_ACR) = 3u | (7u << 8);
    REGISTER(RCC_CFGR) = (5u << 10) | (4u << 13) | 2u;
    wait_for(RCC_CFGR, 2u << 2);
    REGISTER(RCC_AHB1ENR) = (1u << 0) | (1u << 2);
    REGISTER(RCC_AHB2ENR) = 1u << 6;
    REGISTER(RCC_APB1ENR) = 1u << 0;
    REGISTER(RCC_APB2ENR) = (1u << 4) | (1u << 14);
}

static void start_hardware(void)
{
    REGISTER(GPIOA_MODER) = (REGISTER(GPIOA_MODER) & ~(15u << 18)) | (10u << 18);
    REGISTER(GPIOA_AFRH) = (7u << 4) | (7u << 8);
    REGISTER(USART1_BRR) = 521u; /* 115163 baud */
    REGISTER(USART1_CR1) = USART_ON | USART_RXNE;
    REGISTER(TIM2_PSC) = 59u;
    REGISTER(TIM2_ARR) = UINT32_MAX;
    REGISTER(TIM2_EGR) = 1u; /* the timer takes both values */
    REGISTER(TIM2_SR) = 0;
    REGISTER(TIM2_DIER) = TIM_UPDATE;
    REGISTER(TIM2_CR1) = 1u;
    uint32_t used = 0;
    for (const struct pin *pin = pins; pin < pins + USED; pin++) {
        pin_of[pin->pin] = pin;
        used |= 1u << pin->pin;
        REGISTER(GPIOC_PUPDR) |= 1u << (2u * pin->pin);
        SYSCFG_EXTICR(pin->pin / 4u) |= 2u << (pin->pin % 4u * 4u);
    }
    REGISTER(EXTI_RTSR) = used;
    REGISTER(EXTI_FTSR) = used;
    REGISTER(EXTI_PR) = used;
    levels = REGISTER(GPIOC_IDR);
    REGISTER(EXTI_IMR) = used;
    NVIC_IPR(IRQ_USART1) = 0xc0u;
    NVIC_ISER(0u) = (31u << IRQ_EXTI0) | (1u << IRQ_EXTI9_5) | (1u << IRQ_TIM2);
    NVIC_ISER(1u) = (1u << (IRQ_USART1 - 32u)) | (1u << (IRQ_EXTI15_10 - 32u));
    REGISTER(SYST_RVR) = WAKE_CYCLES - 1u;
    REGISTER(SYST_CSR) = 7u;
    __asm volatile("cpsie i");
}

void reset(void)
{
    start_memory();
    start_clocks();
    start_hardware();
    REGISTER(IWDG_KR) = 0x5555u;
    REGISTER(IWDG_PR) = 3u; /* 1 kHz */
    REGISTER(IWDG_RLR) = 1000u;
    REGISTER(IWDG_KR) = 0xccccu;
    board_start(&identity, CONFIG_ZERO_TICK);
    for (;;) {
        board_run();
        port_idle();
    }
}
