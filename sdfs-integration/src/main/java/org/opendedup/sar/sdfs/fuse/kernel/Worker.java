package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the requests of one channel, one after another, until the file system is unmounted. */
final class Worker implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

    private final Channel channel;
    private final Crew.Member member;
    private final Dispatcher dispatcher;
    private final EndListener listener;

    /** Notified once when a worker has ended. */
    @FunctionalInterface
    interface EndListener {
        /** @param unmounted false if the service ended but the mount point may still exist */
        void ended(boolean unmounted);
    }

    Worker(
            Channel channel,
            Crew.Member member,
            FuseFileSystem operations,
            Agreement agreement,
            Interrupts interrupts,
            LateSyncs syncs,
            PassedThroughFiles backings,
            EndListener listener) {
        this.channel = channel;
        this.member = member;
        this.dispatcher = new Dispatcher(
                operations,
                channel,
                agreement,
                channel.served(),
                interrupts::interrupted,
                new OwnSyncs(channel, member, syncs),
                backings,
                channel.requestBuffer(),
                channel.replyBuffer());
        this.listener = listener;
    }

    /** Handles the syncs that arrive through this worker's channel. */
    private record OwnSyncs(Channel channel, Crew.Member member, LateSyncs syncs) implements SyncLine {
        @Override
        public boolean takes(Asked asked, Sync sync) {
            boolean taken = syncs.takes(channel, asked, sync);
            if (!taken) {
                member.willTakeLong();
            }
            return taken;
        }

        @Override
        public void serve(Sync sync) throws IOException {
            syncs.serve(sync);
        }
    }

    @Override
    public void run() {
        boolean unmounted = false;
        try {
            unmounted = serve();
        } catch (IOException | RuntimeException | Error e) {
            LOG.error("a FUSE channel failed; the other channels continue", e);
        } finally {
            channel.close();
            member.leave();
            listener.ended(unmounted);
        }
    }

    private boolean serve() throws IOException {
        int length = receive(0);
        while (length > 0) {
            int replyLength = dispatcher.dispatch(length);
            boolean unanswered = channel.served().end();
            if (replyLength != Dispatcher.NO_REPLY && !(unanswered && channel.send(replyLength))) {
                dispatcher.takeBack();
            }
            length = receive(length + replyLength);
        }
        member.allEnd();
        return length == Channel.UNMOUNTED;
    }

    private int receive(int servedBytes) throws IOException {
        member.awaitTurn(servedBytes);
        int length = channel.receive();
        if (length > 0) {
            member.received();
        }
        return length;
    }
}
