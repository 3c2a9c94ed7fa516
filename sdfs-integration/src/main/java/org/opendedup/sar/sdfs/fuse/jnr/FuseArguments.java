package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/** What libfuse is told in words. */
final class FuseArguments {
    /** The most that libfuse 2 takes or gives in a request. */
    private static final int MAX_IO_BYTES = 128 << 10;

    /** As libfuse 2 has it: the data of a request, and a page for its headers. */
    static final int REQUEST_BYTES = MAX_IO_BYTES + 4096;

    /** Requests the kernel keeps under way for read-ahead: 8 MiB at the largest size. */
    private static final int MAX_BACKGROUND = 64;

    /** Nothing changes names but the kernel's own calls: it may keep them, and that they are missing, for a day. */
    private static final int NAME_SECONDS = 86_400;

    private FuseArguments() {}

    /** The arguments of a foreground program that mounts. */
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
            // The commands warn of a mount point that is not empty; as another user the helper decides.
            list.add("nonempty");
        }
        list.add("big_writes,atomic_o_trunc,max_read=" + MAX_IO_BYTES + ",max_write=" + MAX_IO_BYTES);
        list.add("max_background=" + MAX_BACKGROUND);
        list.add("entry_timeout=" + NAME_SECONDS + ",negative_timeout=" + NAME_SECONDS);
        // The attributes of one name do not hear of a change through another: the kernel asks each time.
        list.add("use_ino,attr_timeout=0");
        return String.join(",", list);
    }
}
