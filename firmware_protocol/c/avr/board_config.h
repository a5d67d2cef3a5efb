/* What this board has, and on which pins: pins of an ATmega2560, in brackets those of an Arduino Mega. */
#ifndef BOARD_CONFIG_H
#define BOARD_CONFIG_H

/* The serial number, unless the EEPROM has one. */
#define CONFIG_SERIAL "AVR-0001"
#define CONFIG_FIRMWARE "mega2560 1.0.0"
/* Give each version of this file another hash, because the host compares it. */
#define CONFIG_HASH {0, 0, 0, 0, 0, 0, 0, 1}
#define CONFIG_ROTOR_TICKS 148u
#define CONFIG_ZERO_TICK 0u

/* All pins of one group are on one port, and one interrupt reads them together. The encoder has a group of its own:
   PD0 to PD2 (21, 20, 19), with the interrupts INT0 to INT2. */
#define CONFIG_ENCODER_IN PIND
#define CONFIG_ENCODER_PULL_UP PORTD
#define CONFIG_ENCODER_MASK 0x07u
/* PK0 to PK6 (A8 to A14) */
#define CONFIG_SENSORS_IN PINK
#define CONFIG_SENSORS_PULL_UP PORTK
#define CONFIG_SENSORS_MASK 0x7fu
/* PB0 to PB4 (53, 52, 51, 50, 10) */
#define CONFIG_CONTACTS_IN PINB
#define CONFIG_CONTACTS_PULL_UP PORTB
#define CONFIG_CONTACTS_MASK 0x1fu

/* Each pin: its line, the index, the group, the bit of the port, whether the line is on while the pin is low. */
#define CONFIG_PINS                                                                                                    \
    {                                                                                                                  \
        {LINE_ROTOR_A, 0, ENCODER, 0, false}, {LINE_ROTOR_B, 0, ENCODER, 1, false},                                    \
        {LINE_ROTOR_ZERO, 0, ENCODER, 2, false},                                                                       \
        {LINE_BEAM, 0, SENSORS, 0, true}, {LINE_BEAM, 1, SENSORS, 1, true}, {LINE_BEAM, 2, SENSORS, 2, true},          \
        {LINE_BEAM, 3, SENSORS, 3, true}, {LINE_READER, 0, SENSORS, 4, true}, {LINE_READER, 1, SENSORS, 5, true},      \
        {LINE_READER, 2, SENSORS, 6, true},                                                                            \
        {LINE_OBJECT, 0, CONTACTS, 0, true}, {LINE_DOOR, 0, CONTACTS, 1, false},                                       \
        {LINE_BUTTON, WHEEL_BUTTON_OPERATIONS_DONE, CONTACTS, 2, true},                                                \
        {LINE_BUTTON, WHEEL_BUTTON_RIEN_VA, CONTACTS, 3, true},                                                        \
        {LINE_BUTTON, WHEEL_BUTTON_TOUT_VA, CONTACTS, 4, true},                                                        \
    }
#define CONFIG_BEAMS 4
#define CONFIG_READERS 3
#if (CONFIG_BEAMS > SENSORS_BEAMS) || (CONFIG_READERS > SENSORS_READERS)
#error "memory.h has no room for so many beams or readers"
#endif
#define CONFIG_LAYOUT                                                                                                  \
    {                                                                                                                  \
        .beams = CONFIG_BEAMS, .readers = CONFIG_READERS, .rotor_ticks = CONFIG_ROTOR_TICKS, .object_sensor = true, .door_switch = true        \
    }

#endif
