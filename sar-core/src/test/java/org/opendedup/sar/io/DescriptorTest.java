package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.NoSpaceException;

/** Errors of system calls, which a C library of the test returns. */
class DescriptorTest {
    private static final int EINTR = 4;
    private static final int EIO = 5;
    private static final int ENOSPC = 28;
    private static final int EOPNOTSUPP = 95;

    private final FileRange range = new FileRange(4096, 8192);

    /** Error numbers of the next calls; 0 if the call succeeds. */
    private final Deque<Integer> results = new ArrayDeque<>();

    private final Libc.Functions libc = (Libc.Functions) Proxy.newProxyInstance(
            Libc.Functions.class.getClassLoader(),
            new Class<?>[] {Libc.Functions.class},
            (proxy, method, arguments) -> {
                int errno = results.remove();
                Runtime.getSystemRuntime().setLastError(errno);
                return errno == 0 ? 0 : -1;
            });

    private final Descriptor descriptor = new Descriptor(libc, 3, Path.of("/volume/file"));

    @Test
    void anInterruptedCallIsMadeAgain() throws IOException {
        results.addAll(List.of(EINTR, EINTR, 0));
        assertTrue(descriptor.release(range));
        results.addAll(List.of(EINTR, 0));
        descriptor.force();
        assertTrue(results.isEmpty());
    }

    @Test
    void aFileSystemThatCannotFreeRangesIsNoError() throws IOException {
        results.addAll(List.of(EINTR, EOPNOTSUPP));
        assertFalse(descriptor.release(range));
        results.add(EOPNOTSUPP);
        assertThrows(IOException.class, descriptor::force, "the control: other calls");
    }

    @Test
    void errorsNameTheFile() {
        results.add(EIO);
        assertEquals(
                "/volume/file: the space of 8192 bytes from byte 4096 cannot be freed: " + SystemError.words(EIO),
                assertThrows(IOException.class, () -> descriptor.release(range)).getMessage());
        results.add(EIO);
        assertEquals(
                "/volume/file cannot be written to the disk: " + SystemError.words(EIO),
                assertThrows(IOException.class, descriptor::force).getMessage());
    }

    @Test
    void aFullDiskIsReportedAsSuch() {
        results.add(ENOSPC);
        assertThrows(NoSpaceException.class, () -> FullDisk.translating(() -> descriptor.release(range)));
    }

    @Test
    void whatTheSystemCannotTellIsNotKnown() {
        results.add(EIO);
        assertEquals(-1, descriptor.allocatedBytes());
        results.add(0);
        assertEquals(-1, descriptor.allocatedBytes(), "a result without the number");
    }
}
