package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A FUSE file system as some user mounts it, open to all, with one empty folder that lies: it says that it is root's
 * and nobody else's. Needs root, to mount it in the user's name.
 */
final class ForeignFuse implements Closeable {
    private static final String SERVER = """
            import ctypes, os, select, struct, sys
            path, user = sys.argv[1].encode(), int(sys.argv[2])
            libc = ctypes.CDLL(None, use_errno=True)
            fd = os.open('/dev/fuse', os.O_RDWR)
            options = 'fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other' % (fd, user, user)
            if libc.mount(b'attack', path, b'fuse', 0, options.encode()) != 0:
                sys.exit(os.strerror(ctypes.get_errno()))
            ATTRIBUTES = struct.pack('<6Q10I', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40700, 2, 0, 0, 0, 4096, 0)
            ANSWERS = {
                26: struct.pack('<IIIIHHIIHH28x', 7, 31, 0, 0, 12, 10, 4096, 1, 1, 0),
                3: struct.pack('<QII', 0, 0, 0) + ATTRIBUTES,
                17: struct.pack('<QQQQQIIII24x', 0, 0, 0, 0, 0, 4096, 255, 4096, 0),
                27: struct.pack('<QII', 0, 0, 0), 28: b'', 29: b''}
            print('mounted', flush=True)
            try:
                while True:
                    ready = select.select([fd, sys.stdin], [], [])[0]
                    if sys.stdin in ready:
                        break
                    length, opcode, unique = struct.unpack_from('<IIQ', os.read(fd, 1 << 20))
                    if opcode not in (2, 42):
                        answer = ANSWERS.get(opcode)
                        error, answer = (-38, b'') if answer is None else (0, answer)
                        os.write(fd, struct.pack('<IiQ', 16 + len(answer), error, unique) + answer)
            finally:
                libc.umount2(path, 2)
            """;

    private final Process server;

    /** @param mountPoint an empty folder */
    ForeignFuse(Path mountPoint, int user) throws IOException {
        server = new ProcessBuilder("python3", "-c", SERVER, mountPoint.toString(), Integer.toString(user))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (server.inputReader().readLine() == null) {
            throw new IOException("cannot mount at " + mountPoint);
        }
    }

    static boolean isPossible() {
        return System.getProperty("user.name").equals("root") && Files.isWritable(Path.of("/dev/fuse"));
    }

    /** Unmounts it. */
    @Override
    public void close() throws IOException {
        server.getOutputStream().close();
        try {
            if (!server.waitFor(1, TimeUnit.MINUTES)) {
                throw new IOException("a FUSE server does not end");
            }
        } catch (InterruptedException e) {
            throw new UncheckedIOException(new IOException("interrupted", e));
        } finally {
            server.destroyForcibly();
        }
    }
}
