package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/** The command-line arguments of libfuse. */
final class FuseArguments {
    /** Largest read or write of libfuse 2 in a request, in bytes. */
    private static final int MAX_IO_BYTES = 128 << 10;

    /** Size of libfuse 2's request buffer, in bytes: the data of a request, and one page for its headers. */
    static final int REQUEST_BYTES = MAX_IO_BYTES + 4096;

    /** Requests that the kernel keeps in flight for read-ahead: 8 MiB at the largest size. */
    private static final int MAX_BACKGROUND = 64;

    /**
     * Time that the kernel may cache existing and missing names, in seconds: one day. Only the kernel's own calls
     * change names.
     */
    private static final int NAME_SECONDS = 86_400;

    private FuseArguments() {}

    /** Returns the arguments of a foreground program that mounts. */
    static String[] of(MountOptions options, boolean root) {
        return new String[] {
            "sdfs", "-f", "-o", list(options, root), options.mountPoint().toString()
        };
    }

    private static String list(MountOptions options, boolean root) {
        List<String> list = new ArrayList<>();
        list.add("fsname=" + options.source().replace("\\", "\\\\").replace(",", "\\,"));
        list.add("subtype=sdfs");
        list.add("default_permissions");
        if (options.allowOther()) {
            list.add("allow_other");
        }
        list.add(options.readOnly() ? "ro" : "rw");
        list.add(options.noSuid() ? "nosuid" : "suid");
        list.add(options.noDev() ? "nodev" : "dev");
        if (options.noExec()) {
            list.add("noexec");
        }
        if (options.noAccessTime()) {
            list.add("noatime");
        }
        if (options.synchronous()) {
            list.add("sync");
        }
        if (root) {
            // For root, the commands warn of a mount point that is not empty. For other users, the helper decides.
            list.add("nonempty");
        }
        list.add("big_writes,atomic_o_trunc,max_read=" + MAX_IO_BYTES + ",max_write=" + MAX_IO_BYTES);
        list.add("max_background=" + MAX_BACKGROUND);
        list.add("entry_timeout=" + NAME_SECONDS + ",negative_timeout=" + NAME_SECONDS);
        // A change through one name does not update the cached attributes of another name: the kernel must ask each
        // time.
        list.add("use_ino,attr_timeout=0");
        return String.join(",", list);
    }
}
