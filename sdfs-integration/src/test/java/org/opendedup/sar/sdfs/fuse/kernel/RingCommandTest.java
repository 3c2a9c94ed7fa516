package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The bytes of the commands, as little-endian kernels expect them ({@code linux/io_uring.h}, {@code linux/fuse.h}). */
class RingCommandTest {
    private final ByteBuffer command = ByteBuffer.allocate(IoRing.COMMAND_BYTES).order(ByteOrder.LITTLE_ENDIAN);

    @BeforeEach
    void fillWithWhatWasThereBefore() {
        Arrays.fill(command.array(), (byte) 0xff);
    }

    @Test
    void register() {
        RingCommand.register(command, 0x11, 0x0203, 0x7fff12345678L);
        assertEquals(
                "2e000000" + "11000000" // opcode URING_CMD, flags, priority; descriptor
                        + "01000000" + "00000000" // FUSE_IO_URING_CMD_REGISTER
                        + "78563412ff7f0000" // address of the vectors
                        + "02000000" + "00000000" // their number; flags
                        + "00".repeat(16) // user data, buffer, personality, file index
                        + "00".repeat(8) // fuse_uring_cmd_req: flags
                        + "00".repeat(8) // commit ID
                        + "0302" + "00".repeat(6 + 56), // queue, padding; not used
                bytes());
    }

    @Test
    void commit() {
        RingCommand.commit(command, 0x11, 5, 0x0102030405060708L);
        assertEquals(
                "2e000000" + "11000000"
                        + "02000000" + "00000000" // FUSE_IO_URING_CMD_COMMIT_AND_FETCH
                        + "00".repeat(16 + 16)
                        + "00".repeat(8)
                        + "0807060504030201"
                        + "0500" + "00".repeat(6 + 56),
                bytes());
    }

    private String bytes() {
        return HexFormat.of().formatHex(command.array());
    }
}
