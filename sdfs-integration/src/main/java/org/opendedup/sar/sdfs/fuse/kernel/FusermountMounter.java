package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts through {@code fusermount3}, the setuid helper of the fuse3 package, for users other than root. The helper
 * mounts and passes the descriptor of the device over a socket.
 */
final class FusermountMounter implements Mounter {
    private static final String HELPER = "fusermount3";

    private static final Logger LOG = LoggerFactory.getLogger(FusermountMounter.class);

    private final Libc libc;

    FusermountMounter(Libc libc) {
        this.libc = libc;
    }

    @Override
    public int mount(MountOptions options) throws IOException {
        Path device = Path.of(Protocol.DEVICE);
        if (!Files.isReadable(device) || !Files.isWritable(device)) {
            throw new IOException("this user may not open " + device + " (usually its mode is 0666)");
        }
        return new DescriptorFromHelper(libc)
                .run(List.of(
                        HELPER, "-o", list(options), "--", options.mountPoint().toString()));
    }

    private static String list(MountOptions options) {
        List<String> list = new ArrayList<>();
        list.add("fsname=" + options.source().replace("\\", "\\\\").replace(",", "\\,"));
        list.add("subtype=" + SUBTYPE);
        list.add("default_permissions");
        list.add("max_read=" + Protocol.MAX_IO_BYTES);
        list.add(options.readOnly() ? "ro" : "rw");
        // The helper allows users no other values.
        list.add("nosuid");
        list.add("nodev");
        if (options.allowOther()) {
            list.add("allow_other");
        }
        if (options.noExec()) {
            list.add("noexec");
        }
        if (options.synchronous()) {
            list.add("sync");
        }
        if (options.noAccessTime()) {
            list.add("noatime");
        }
        if (options.noDirectoryAccessTime()) {
            list.add("nodiratime");
        }
        return String.join(",", list);
    }

    @Override
    public boolean unmount(Path mountPoint) throws IOException {
        String message = runHelper(List.of(HELPER, "-u", "--", mountPoint.toString()));
        if (message.toLowerCase(Locale.ROOT).contains("busy")) {
            return false;
        }
        if (!message.isEmpty()) {
            throw new IOException("unmounting " + mountPoint + ": " + message);
        }
        return true;
    }

    @Override
    public void detach(Path mountPoint) throws IOException {
        abort(mountPoint);
        String message = runHelper(List.of(HELPER, "-u", "-z", "--", mountPoint.toString()));
        if (!message.isEmpty()) {
            throw new IOException("detaching " + mountPoint + ": " + message);
        }
    }

    /** Aborts the connection through the FUSE control file system, which has a switch for the owner of each mount. */
    private void abort(Path mountPoint) {
        try {
            FuseConnection connection = FuseConnection.at(mountPoint);
            connection.abort(libc, connection::isInPlace);
        } catch (IOException e) {
            LOG.warn("{} is detached, but its connection is not aborted: {}", mountPoint, e.toString());
        }
    }

    /** @return error output of the helper if it failed; empty if it succeeded */
    private static String runHelper(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        try {
            int status = process.waitFor();
            return status == 0 ? "" : output.isEmpty() ? HELPER + " ended with status " + status : output;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for " + HELPER, e);
        }
    }
}
