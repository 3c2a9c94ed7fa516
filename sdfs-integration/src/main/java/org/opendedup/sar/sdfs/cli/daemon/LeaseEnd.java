package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.kernel.KernelMount;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a mount does when its volume may be another machine's. The volume refuses requests by itself, so this is about
 * what the kernel answers without asking, and about the end of the mount: the process closes the volume then, as after
 * any unmount.
 */
record LeaseEnd(KernelMount mount, FuseFileSystem operations) implements LeaseKeeper.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseEnd.class);

    @Override
    public void expired() {
        // It waits for requests, which wait for the lease.
        inBackground(
                () -> mount.dropPages(operations.openInodes()),
                "programs may read what the kernel has of a volume that may be another machine's");
    }

    @Override
    public void lost(String why) {
        inBackground(
                () -> mount.abandon(operations.openInodes()),
                "the mount of a volume that is another machine's cannot be ended");
    }

    private static void inBackground(Closing.Step task, String failed) {
        Runnable logging = () -> {
            try {
                task.run();
            } catch (IOException e) {
                LOG.error(failed, e);
            }
        };
        Threads.named("sdfs-lease-end").newThread(logging).start();
    }
}
