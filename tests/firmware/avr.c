/* The firmware of an ATmega in a simulator of the chip: avr MCU ELF

   Reads lines in the order of their times, NS since the board's clock began: `NS pin PORT BIT LEVEL` drives a pin, `NS
   in HEX` are bytes of the host, `NS off` takes the power away, `NS reset KEEPS` starts the program, with the memory as
   it was or all zero, `NS hang` stops it. `NS run` prints an object: `out`, the bytes that the board has sent since the
   last one; `stack`, the most bytes of it; `busy_ns`, the longest time without sleep in which the watchdog was not fed,
   after a start; `interrupt`, the most cycles in which one interrupt locked the others out. */
#include <simavr/avr_extint.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERTZ 16000000u
#define NS_PER_CYCLE_TIMES_TWO 125u
#define BYTE_CYCLES 1389u /* at 115200 baud */
#define LINE_BYTES 65536
#define SEEN_BYTES 4096
#define OUT_BYTES (1 << 20) /* of an answer */
#define ANSWER "{\"out\": \""
#define FIRST_REGISTER 0x20u
#define PCIFR 0x3bu
#define PCICR 0x68u
#define TCCR1B 0x81u
#define PCMSK2 0x6du
#define PCINT2_VECTOR 11u
#define WDR 0x95a8
#define PORTS 26
#define PINS 8
#define EDGE_INTERRUPTS 3u
#define HANG_AT 0x3ff00u
#define HANG 0xcfffu /* rjmp to itself */

static avr_t *avr;
static unsigned char in[SEEN_BYTES]; /* bytes of the host that are on the line */
static unsigned in_put, in_taken;
static avr_cycle_count_t due; /* the next line */
static avr_cycle_count_t entered, longest, fed, busiest;
static uint16_t stack; /* its lowest place */
static bool started;
static avr_ioport_external_t outside[PORTS]; /* what drives the pins */

static avr_cycle_count_t cycles_of(uint64_t ns)
{
    return ns * 2u / NS_PER_CYCLE_TIMES_TWO;
}

static void sent(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    printf("%02x", (unsigned)(value & 0xffu));
}

static avr_cycle_count_t next_byte(avr_t *chip, avr_cycle_count_t when, void *param)
{
    (void)chip;
    (void)param;
    if (in_taken == in_put) {
        return 0;
    }
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), in[in_taken % SEEN_BYTES]);
    in_taken++;
    return when + BYTE_CYCLES;
}

static void receive(const char *hex)
{
    for (; (hex[0] != '\0') && (hex[0] != '\n'); hex += 2) {
        const char pair[] = {hex[0], hex[1], '\0'};
        in[in_put % SEEN_BYTES] = (unsigned char)strtoul(pair, NULL, 16);
        in_put++;
    }
    if (avr_cycle_timer_status(avr, next_byte, NULL) == 0u) {
        avr_cycle_timer_register(avr, BYTE_CYCLES, next_byte, NULL);
    }
}

/* Not in real time, and not beyond the next line: seldom, the simulator would. It adds `cycles` after this. */
static void sleeps(avr_t *chip, avr_cycle_count_t cycles)
{
    if (chip->cycle + cycles > due) {
        chip->cycle -= chip->cycle + cycles - due;
    }
}

static void on_interrupt(struct avr_irq_t *irq, uint32_t running, void *param)
{
    (void)irq;
    (void)param;
    if (running != 0u) {
        entered = avr->cycle;
    } else if (started && (avr->cycle - entered > longest)) {
        longest = avr->cycle - entered;
    } else {
        /* not the longest */
    }
}

/* Also against the pull-up, which the simulator takes for the stronger one otherwise. */
static void drive(char name, int bit, bool level)
{
    avr_ioport_external_t *const port = &outside[name - 'A'];
    port->name = (unsigned char)name;
    port->mask |= 1u << bit;
    port->value = (port->value & ~(1u << bit)) | ((level ? 1u : 0u) << bit);
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(name), port);
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(name), bit), level ? 1u : 0u);
}

/* A chip that sleeps goes on to the next of these. */
static avr_cycle_count_t line_is_due(avr_t *chip, avr_cycle_count_t when, void *param)
{
    (void)chip;
    (void)when;
    (void)param;
    return 0;
}

/* Standard output is for the answers. */
static void log_error(avr_t *chip, const int level, const char *format, va_list values)
{
    (void)chip;
    if (level <= LOG_ERROR) {
        vfprintf(stderr, format, values);
    }
}

/* simavr 1.6 has no interrupt of port K's pins in the ATmega2560. */
static void add_pin_change(void)
{
    avr_io_t *part = avr->io_port;
    while ((part->kind == NULL) || (strcmp(part->kind, "port") != 0) || (((avr_ioport_t *)part)->name != 'K')) {
        part = part->next;
    }
    avr_ioport_t *const port = (avr_ioport_t *)part;
    port->r_pcint = PCMSK2;
    port->pcint.vector = PCINT2_VECTOR;
    port->pcint.enable = (avr_regbit_t){.reg = PCICR, .bit = 2, .mask = 1};
    port->pcint.raised = (avr_regbit_t){.reg = PCIFR, .bit = 2, .mask = 1};
    avr_register_vector(avr, &port->pcint);
}

/* The simulator keeps no level of a pin over a reset. */
static void reset(bool keeps_memory)
{
    if (!keeps_memory) {
        memset(avr->data + FIRST_REGISTER, 0, (size_t)(avr->ramend + 1u - FIRST_REGISTER));
    }
    avr_reset(avr);
    for (uint8_t number = 0; number < EDGE_INTERRUPTS; number++) {
        avr_extint_set_strict_lvl_trig(avr, number, 0); /* it would look at each low pin at each cycle */
    }
    for (const avr_ioport_external_t *port = outside; port < outside + PORTS; port++) {
        for (int bit = 0; bit < PINS; bit++) {
            if ((port->mask & (1u << bit)) != 0u) {
                const bool level = (port->value & (1u << bit)) != 0u;
                drive((char)port->name, bit, !level);
                drive((char)port->name, bit, level);
            }
        }
    }
    in_taken = in_put;
    started = false;
}

/* One step. Return false if the program has crashed. */
static bool step(void)
{
    const int state = avr_run(avr);
    const uint16_t at = (uint16_t)(avr->data[R_SPL] | (avr->data[R_SPH] << 8));
    stack = ((at < stack) && started) ? at : stack;
    if ((avr->flash[avr->pc] | (avr->flash[avr->pc + 1u] << 8)) == WDR) {
        busiest = (started && (avr->cycle - fed > busiest)) ? avr->cycle - fed : busiest;
        fed = avr->cycle;
    }
    started = started || (state == cpu_Sleeping);
    fed = (state == cpu_Sleeping) ? avr->cycle : fed;
    return (state != cpu_Crashed) && (state != cpu_Done);
}

int main(int count, char **words)
{
    static elf_firmware_t firmware;
    static char line[LINE_BYTES];
    avr_global_logger_set(log_error);
    if ((count != 3) || (elf_read_firmware(words[2], &firmware) != 0)) {
        fprintf(stderr, "usage: avr MCU ELF\n");
        return EXIT_FAILURE;
    }
    avr = avr_make_mcu_by_name(words[1]);
    if (avr == NULL) {
        return EXIT_FAILURE;
    }
    avr_init(avr);
    if (strcmp(words[1], "atmega2560") == 0) {
        add_pin_change();
    }
    firmware.frequency = HERTZ;
    avr_load_firmware(avr, &firmware);
    avr->log = LOG_ERROR;
    avr->sleep = sleeps;
    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), sent, NULL);
    avr_irq_register_notify(avr_get_interrupt_irq(avr, AVR_INT_ANY) + AVR_INT_IRQ_RUNNING, on_interrupt, NULL);
    setvbuf(stdout, NULL, _IOFBF, OUT_BYTES);
    reset(false);
    stack = avr->ramend;
    while (avr->data[TCCR1B] == 0u) {
        step();
    }
    const avr_cycle_count_t began = avr->cycle;

    bool is_on = true;
    printf(ANSWER);
    while (fgets(line, LINE_BYTES, stdin) != NULL) {
        char *what;
        due = began + cycles_of(strtoull(line, &what, 10));
        if (!is_on) {
            avr->cycle = due;
        }
        if (avr->cycle < due) {
            avr_cycle_timer_register(avr, due - avr->cycle, line_is_due, NULL);
        }
        while (avr->cycle < due) {
            if (!step()) {
                fprintf(stderr, "the program has crashed\n");
                return EXIT_FAILURE;
            }
        }
        what++;
        if (strncmp(what, "pin ", 4) == 0) {
            drive(what[4], atoi(what + 6), atoi(what + 8) != 0);
        } else if (strncmp(what, "in ", 3) == 0) {
            receive(what + 3);
        } else if (strncmp(what, "off", 3) == 0) {
            is_on = false;
        } else if (strncmp(what, "reset ", 6) == 0) {
            is_on = true;
            reset(what[6] == '1');
        } else if (strncmp(what, "hang", 4) == 0) {
            avr->flash[HANG_AT] = HANG & 0xffu;
            avr->flash[HANG_AT + 1u] = HANG >> 8;
            avr->pc = HANG_AT;
        } else {
            printf("\", \"stack\": %u, \"busy_ns\": %llu, \"interrupt\": %llu}\n" ANSWER, (unsigned)(avr->ramend - stack),
                   (unsigned long long)(busiest * NS_PER_CYCLE_TIMES_TWO / 2u), (unsigned long long)longest);
            fflush(stdout);
        }
    }
    return EXIT_SUCCESS;
}
