package org.opendedup.sar.volume.quota;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.names.DirectoryTree;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.parts.VolumeContext;

/**
 * Sets the limits of users, groups and folders, durably, and shows what they use (docs/adr/0111). A folder with a quota
 * is a project: its inodes have the project's number, and what is made in it inherits the number.
 */
public final class VolumeQuotas {
    /** Inodes that get the number of a project with the locks of the names held once. */
    private static final int BATCH = 128;

    private final Quotas quotas;
    private final Namespace namespace;
    private final NodeTable nodes;
    private final DirectoryTree tree;
    private final Committer committer;
    private final SpaceCollector collector;

    public VolumeQuotas(VolumeContext context) {
        quotas = context.metadata().quotas();
        namespace = context.metadata().namespace();
        nodes = context.nodes();
        tree = context.tree();
        committer = context.committer();
        collector = context.collector();
    }

    /** Returns what each user, group and project uses that has a file or a limit. */
    public List<QuotaState> states() throws IOException {
        return quotas.states();
    }

    /** Returns what a user and groups use, and the project of an inode if it has one. */
    public List<QuotaState> statesFor(long inode, int uid, Collection<Integer> gids) throws IOException {
        List<QuotaState> states = new ArrayList<>();
        states.add(quotas.state(new QuotaId(Kind.USER, uid)));
        for (int gid : gids) {
            states.add(quotas.state(new QuotaId(Kind.GROUP, gid)));
        }
        int project = project(inode);
        if (project != 0) {
            states.add(quotas.state(new QuotaId(Kind.PROJECT, project)));
        }
        return states;
    }

    /**
     * Changes the limits of a user, a group, or a project that has files.
     *
     * @param change returns the new limits; an IllegalArgumentException of it changes nothing
     */
    public QuotaState set(QuotaId id, UnaryOperator<QuotaLimits> change) throws IOException {
        committer.checkWritable();
        collector.admitMetadata(0);
        committer.changes().lock();
        QuotaState set;
        try {
            set = change(id, change);
        } finally {
            committer.changes().unlock();
        }
        committer.commit();
        return set;
    }

    private QuotaState change(QuotaId id, UnaryOperator<QuotaLimits> change) throws IOException {
        QuotaState before = quotas.state(id);
        if (id.kind() == Kind.PROJECT && before.files() == 0) {
            throw new IOException(id + " has no files: a folder or file must have it first");
        }
        quotas.setLimits(id, change.apply(before.limits()));
        return quotas.state(id);
    }

    /** Returns the number of the project that an inode is charged to; 0 if there is none. */
    public int project(long inode) throws IOException {
        return nodes.with(inode, Node::project);
    }

    /** Charges an inode to a project, or to none with 0, as FS_IOC_FSSETXATTR does. */
    public void setProject(long inode, int project) throws IOException {
        Node node = nodes.pin(inode);
        try {
            node.requireChangeable();
            tree.change(node, () -> charge(node, project));
        } finally {
            nodes.unpin(node);
        }
    }

    /**
     * Changes the limits of a folder; makes it a project if it is none. Everything below it that is not of another
     * project's folder is charged to the project then, while the volume is in use. If that is stopped, what is charged
     * stays so, and the next call goes on.
     *
     * @param change returns the new limits; an IllegalArgumentException of it changes nothing
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    public QuotaState setFolder(long inode, UnaryOperator<QuotaLimits> change, Progress progress) throws IOException {
        Node folder = nodes.pin(inode);
        try {
            if (!folder.isDirectory()) {
                throw new PosixException(Reason.ENOTDIR, "inode " + inode);
            }
            collector.admitMetadata(0);
            int outside = projectAbove(folder);
            QuotaId id = tree.alone(() -> {
                QuotaId project = new QuotaId(Kind.PROJECT, folder.project());
                boolean isOwn = folder.project() != 0 && quotas.state(project).folder() == inode;
                // What the limits may be is checked first.
                QuotaLimits limits = change.apply(isOwn ? quotas.state(project).limits() : QuotaLimits.NONE);
                if (!isOwn) {
                    folder.requireChangeable();
                    project = new QuotaId(Kind.PROJECT, quotas.newProject(inode));
                    charge(folder, project.id());
                }
                quotas.setLimits(project, limits);
                return project;
            });
            committer.commit();
            while (chargeBelow(inode, outside, id.id(), progress) > 0) {
                // Until a pass finds nothing: one may miss what is renamed meanwhile.
            }
            committer.commit();
            return quotas.state(id);
        } finally {
            nodes.unpin(folder);
        }
    }

    /** Returns the project of the folder above one; for the root 0. */
    private int projectAbove(Node folder) throws IOException {
        return folder.id == Inode.ROOT ? 0 : nodes.with(folder.parent(), Node::project);
    }

    private void charge(Node node, int project) throws IOException {
        synchronized (node) {
            Account account = node.account();
            nodes.charge(node, quotas.account(account.uid(), account.gid(), project), true);
        }
    }

    /** A folder, and the cookie after which its entries are still to be charged. */
    private static final class Place {
        final long directory;
        long cookie;

        Place(long directory) {
            this.directory = directory;
        }
    }

    /**
     * Charges what lies below a folder and is of one project, or of one that nobody set up, to another. Folders get
     * their number before their entries are listed: what is made in one later inherits the number, and what lies in one
     * cannot leave by a rename.
     *
     * @return number of inodes that were charged
     */
    private long chargeBelow(long folder, int from, int to, Progress progress) throws IOException {
        long charged = 0;
        long seen = 0;
        Deque<Place> open = new ArrayDeque<>();
        open.push(new Place(folder));
        while (!open.isEmpty()) {
            progress.at("inodes", seen, 0);
            Place place = Objects.requireNonNull(open.peek());
            List<Node> batch = pinNext(place);
            try {
                if (batch.isEmpty()) {
                    open.pop();
                    continue;
                }
                seen += batch.size();
                collector.admitMetadata(0);
                charged += tree.alone(() -> chargeAll(batch, from, to));
                for (Node node : batch) {
                    if (node.isDirectory() && node.project() == to) {
                        open.push(new Place(node.id));
                    }
                }
            } finally {
                batch.forEach(nodes::unpin);
            }
            if (nodes.hasManyDirty()) {
                committer.commit();
            }
        }
        return charged;
    }

    /** Reads the next entries of a folder, without any lock, and pins their inodes. None if there are no more. */
    private List<Node> pinNext(Place place) throws IOException {
        List<Long> inodes = new ArrayList<>(BATCH);
        namespace.list(place.directory, place.cookie, (name, inode, type, cookie) -> {
            if (inodes.size() == BATCH) {
                return false;
            }
            inodes.add(inode);
            place.cookie = cookie;
            return true;
        });
        List<Node> pinned = new ArrayList<>(inodes.size());
        try {
            for (long inode : inodes) {
                Node node = nodes.pinIfPresent(inode);
                if (node != null) {
                    pinned.add(node);
                }
            }
            if (pinned.isEmpty() && !inodes.isEmpty()) {
                return pinNext(place);
            }
            return pinned;
        } catch (IOException e) {
            pinned.forEach(nodes::unpin);
            throw e;
        }
    }

    private long chargeAll(List<Node> batch, int from, int to) throws IOException {
        long charged = 0;
        for (Node node : batch) {
            int project = node.project();
            if (project != to && (project == from || isNobodys(project))) {
                charge(node, to);
                charged++;
            }
        }
        return charged;
    }

    /**
     * Returns whether a project has neither a folder nor limits. So are those of a replica, which receives the numbers
     * of inodes only, and of a volume that lost the record of a project.
     */
    private boolean isNobodys(int project) throws IOException {
        if (project == 0) {
            return false;
        }
        QuotaState state = quotas.state(new QuotaId(Kind.PROJECT, project));
        return state.folder() == 0 && state.limits().areNone();
    }

    /** Returns the path of a folder from the root; null if it is removed. Reads the names of the folders above it. */
    public @Nullable String pathOf(long folder) throws IOException {
        StringBuilder path = new StringBuilder();
        long at = folder;
        while (at != Inode.ROOT) {
            Node node = nodes.pinIfPresent(at);
            if (node == null) {
                return null;
            }
            long parent = node.parent();
            nodes.unpin(node);
            String[] found = new String[1];
            long child = at;
            namespace.list(parent, 0, (name, inode, type, cookie) -> {
                found[0] = inode == child ? new String(name, UTF_8) : null;
                return found[0] == null;
            });
            if (found[0] == null) {
                return null;
            }
            path.insert(0, "/" + found[0]);
            at = parent;
        }
        return path.length() == 0 ? "/" : path.toString();
    }
}
