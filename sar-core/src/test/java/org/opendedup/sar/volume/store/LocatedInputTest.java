package org.opendedup.sar.volume.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.SystemError;

class LocatedInputTest {
    private static final String IO_ERROR = "Input/output error";

    private static final byte[] BYTES = {1, 2, 3};

    private String error = IO_ERROR;
    /** Number of the present mount of the disk. */
    private int mount;

    private int opened;
    private int closed;

    /** Opens a file that fails from the next mount on, as all calls of a file system that was shut down do. */
    private Input open() {
        int own = mount;
        opened++;
        return new Input() {
            private void requireOwn() throws IOException {
                if (own != mount) {
                    throw new IOException(error);
                }
            }

            @Override
            public void readFully(long offset, ByteBuffer target) throws IOException {
                requireOwn();
                target.put(BYTES, (int) offset, target.remaining());
            }

            @Override
            public long length() throws IOException {
                requireOwn();
                return BYTES.length;
            }

            @Override
            public boolean isReplaced() {
                return own != mount;
            }

            @Override
            public void close() {
                closed++;
            }
        };
    }

    /** The length is asked before the directory of a container is read. */
    @ParameterizedTest
    @ValueSource(strings = {IO_ERROR, "Stale file handle", "Transport endpoint is not connected"})
    void afterANewMountTheFileIsOpenedOnceMore(String failure) throws IOException {
        error = failure;
        LocatedInput input = new LocatedInput(open(), this::open, unused -> {});
        assertEquals(BYTES.length, input.length());
        mount++;
        assertEquals(BYTES.length, input.length());
        mount++;
        ByteBuffer read = ByteBuffer.allocate(BYTES.length);
        input.readFully(0, read);
        assertArrayEquals(BYTES, read.array());
        assertEquals(3, opened);
        input.close();
        assertEquals(3, closed);
    }

    @Test
    void aLengthThatADiskDoesNotTellIsNoDamageWhileItIsGone() throws IOException {
        boolean[] isGone = {true};
        Input failing = new Input() {
            @Override
            public void readFully(long offset, ByteBuffer target) throws IOException {
                throw new IOException(IO_ERROR);
            }

            @Override
            public long length() throws IOException {
                throw new IOException(IO_ERROR);
            }

            @Override
            public void close() {}
        };
        try (LocatedInput input = new LocatedInput(failing, this::open, failure -> {
            if (isGone[0]) {
                throw new IOException("the disk is gone: " + SystemError.NO_DEVICE_TEXT, failure);
            }
        })) {
            assertTrue(NoAnswer.is(assertThrows(IOException.class, input::length)));
            isGone[0] = false;
            assertFalse(NoAnswer.is(assertThrows(IOException.class, input::length)), "the control");
        }
        assertEquals(0, opened);
    }
}
