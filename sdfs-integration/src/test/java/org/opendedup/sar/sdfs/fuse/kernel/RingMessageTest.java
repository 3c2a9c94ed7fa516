package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;

/** Requests and replies in the memory of an entry, byte by byte. */
class RingMessageTest {
    private final ByteBuffer memory =
            ByteBuffer.allocateDirect(RingMemory.CELL_BYTES).order(ByteOrder.nativeOrder());
    private final RingMessage message = new RingMessage(memory);

    /** Puts a request as the kernel does: its header at 0, its arguments at 128, the length of the payload at 272. */
    private void put(int opcode, int argumentBytes, int payloadBytes) {
        memory.putInt(0, 40 + argumentBytes + payloadBytes).putInt(4, opcode).putLong(8, 0x1122334455667788L);
        for (int i = 16; i < 40; i++) {
            memory.put(i, (byte) i);
        }
        for (int i = 0; i < argumentBytes; i++) {
            memory.put(128 + i, (byte) (0x80 + i));
        }
        for (int i = 0; i < payloadBytes; i++) {
            memory.put(4096 + i, (byte) (0xc0 + i));
        }
        memory.putInt(272, payloadBytes);
    }

    private String bytes(int from, int length) {
        byte[] copy = new byte[length];
        memory.get(from, copy);
        return HexFormat.of().formatHex(copy);
    }

    @Test
    void aRequestBecomesOnePiece() {
        put(Opcode.WRITE, 40, 3);
        String header = bytes(0, 40);
        String arguments = bytes(128, 40);
        assertEquals(4096 - 40 - 40, message.arrange());
        assertEquals(header + arguments + "c0c1c2", bytes(4096 - 80, 83));
        assertEquals(0x1122334455667788L, message.unique());
        assertEquals(83, message.length());
        assertEquals(3, message.payloadBytes());
    }

    @Test
    void aRequestMayHaveNoArgumentsOrNoPayload() {
        put(Opcode.LOOKUP, 0, 5);
        assertEquals(4096 - 40, message.arrange());
        put(Opcode.READ, 128, 0);
        assertEquals(4096 - 40 - 128, message.arrange());
        assertEquals("80", bytes(4096 - 128, 1));
    }

    @Test
    void sizesThatContradictEachOtherAreFound() {
        put(Opcode.READ, 40, 0);
        memory.putInt(272, 41);
        assertEquals(RingMessage.MALFORMED, message.arrange());
        memory.putInt(272, -1);
        assertEquals(RingMessage.MALFORMED, message.arrange());
        memory.putInt(0, 40 + 129).putInt(272, 0);
        assertEquals(RingMessage.MALFORMED, message.arrange());
        memory.putInt(0, 40 + (1 << 20) + 1).putInt(272, (1 << 20) + 1);
        assertEquals(RingMessage.MALFORMED, message.arrange());
        memory.putInt(0, 39);
        assertEquals(RingMessage.MALFORMED, message.arrange());
    }

    @Test
    void aReplyLiesWhereTheKernelTakesIt() {
        put(Opcode.WRITE, 40, 3);
        Reply reply = new Reply(message.replyBuffer());
        reply.begin();
        reply.putInt(0x01020304);
        message.putReply(reply.success(message.unique()));
        ByteBuffer expected = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
        expected.putInt(20).putInt(0).putLong(0x1122334455667788L);
        assertEquals(HexFormat.of().formatHex(expected.array()), bytes(0, 16));
        assertEquals(4, memory.getInt(272));
        assertEquals(0x01020304, memory.getInt(4096));
    }

    @Test
    void anErrorAndANumberHaveTheirHeaders() {
        message.putReply(6, 4);
        assertEquals(16, memory.getInt(0));
        assertEquals(-4, memory.getInt(4));
        assertEquals(6, memory.getLong(8));
        assertEquals(0, memory.getInt(272));
        message.putNumber(8, 77);
        assertEquals(24, memory.getInt(0));
        assertEquals(0, memory.getInt(4));
        assertEquals(8, memory.getLong(8));
        assertEquals(8, memory.getInt(272));
        assertEquals(77, memory.getLong(4096));
    }

    @Test
    void theVectorsTellWhereHeadersAndPayloadAre() {
        int vectors = message.putVectors(0x7f0000001000L);
        assertEquals(0x7f0000001000L, memory.getLong(vectors));
        assertEquals(288, memory.getLong(vectors + 8));
        assertEquals(0x7f0000002000L, memory.getLong(vectors + 16));
        assertEquals(1 << 20, memory.getLong(vectors + 24));
    }

    @Test
    void onlyRequestsOnBytesOfFilesMoveData() {
        put(Opcode.READ, 40, 0);
        assertTrue(message.movesData());
        put(Opcode.FSYNC, 16, 0);
        assertFalse(message.movesData());
        put(Opcode.LSEEK, 24, 0);
        assertFalse(message.movesData());
    }
}
