package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.VolumeMaintenance;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Visits the chunk references of a file as it is at one moment. Stores first what is dirty. Holds no lock while it
 * reads the recipe, so that programs can write: it looks afterwards whether the recipe has stayed as it was.
 */
public final class FileReferences {
    private static final Logger log = LoggerFactory.getLogger(FileReferences.class);
    /** Number of pages read at a time. Limited, so that no database cursor stays open while a visitor works. */
    private static final int PAGES = 64;
    /** Number of attempts to find a file without dirty bytes; a program may write all the time. */
    private static final int ATTEMPTS = 3;

    private final VolumeContext context;
    private final RecipeStore recipes;

    public FileReferences(VolumeContext context) {
        this.context = context;
        recipes = context.metadata().recipes();
    }

    /** See {@link VolumeMaintenance#forEachReference}. */
    public Optional<FileState> visit(Node node, ReferenceVisitor visitor) throws IOException {
        // While it has this user, the file neither becomes raw nor ends being raw.
        Node.Contents contents = node.use(context.dirtyBudget(), context.capacity());
        try {
            RawFile raw = node.rawFile();
            return raw == null ? visitStored(node, contents, visitor) : visitCopied(node, raw, visitor);
        } finally {
            node.leave();
        }
    }

    private Optional<FileState> visitStored(Node node, Node.Contents contents, ReferenceVisitor visitor)
            throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS && tryStore(node, contents); attempt++) {
            InodeState state;
            long completions;
            contents.lockUncut();
            try {
                state = context.tree().state(node, () -> attributesIfInChunks(node, contents));
                completions = completions(node, contents);
            } finally {
                contents.storing.unlock();
            }
            if (state != null) {
                walk(node.id, state.attributes().size(), visitor);
                return isUnchanged(node, contents, completions)
                        ? Optional.of(new FileState(state, true))
                        : Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** Returns whether the recipe has all bytes of a file. Called with the node's monitor held. */
    private static boolean isInChunks(Node node, Node.Contents contents) {
        return contents.isClean() && node.changed == null;
    }

    /** Returns the attributes of a file of which the recipe has all bytes, else null. */
    private static @Nullable Attributes attributesIfInChunks(Node node, Node.Contents contents) {
        synchronized (node) {
            return isInChunks(node, contents) ? node.attributes(Node.Look.NONE) : null;
        }
    }

    private static long completions(Node node, Node.Contents contents) {
        synchronized (node) {
            return contents.completions;
        }
    }

    /** Stores what is not in chunks. Returns false if it cannot be stored now. */
    private boolean tryStore(Node node, Node.Contents contents) throws InterruptedIOException {
        synchronized (node) {
            if (isInChunks(node, contents)) {
                return true;
            }
        }
        try {
            context.commits().store(node);
            context.fastTier().storeChanges(node);
            return true;
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            log.debug("inode {} cannot be stored now", node.id, e);
            return false;
        }
    }

    /** Returns whether the recipe is as it was. Changes of it hold the lock until they have counted themselves. */
    private static boolean isUnchanged(Node node, Node.Contents contents, long completions) {
        contents.storing.lock();
        try {
            return completions(node, contents) == completions;
        } finally {
            contents.storing.unlock();
        }
    }

    /** Visits the references of a raw file when its recipe has all bytes, or the fast tier has lost them. */
    private Optional<FileState> visitCopied(Node node, RawFile raw, ReferenceVisitor visitor) throws IOException {
        boolean isNewest = true;
        try {
            context.fastTier().makeCurrent(node);
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            log.debug("inode {} cannot be stored in chunks now", node.id, e);
            if (raw.statusIfReadable() != null) {
                return Optional.empty();
            }
            isNewest = false;
        }
        RawRecord.Copy copy = raw.record().copy();
        InodeState state = copy == null ? null : stateOf(node, copy, isNewest);
        if (copy == null || state == null) {
            return Optional.empty();
        }
        walk(node.id, copy.size(), visitor);
        return copy.equals(raw.record().copy()) ? Optional.of(new FileState(state, isNewest)) : Optional.empty();
    }

    private @Nullable InodeState stateOf(Node node, RawRecord.Copy copy, boolean isNewest) throws IOException {
        if (isNewest) {
            return context.tree().stateOfCopy(node, copy);
        }
        InodeState known = context.tree().state(node);
        return known.withBytes(copy.size(), known.attributes().modifiedNs());
    }

    private void walk(long inode, long size, ReferenceVisitor visitor) throws IOException {
        int pageBytes = recipes.pageBytes();
        long end = (size + pageBytes - 1) / pageBytes;
        for (long next = 0; next < end; ) {
            long[] pages = recipes.existingPages(inode, next, end, PAGES);
            if (pages.length == 0) {
                break;
            }
            for (long page : pages) {
                visit(recipes.page(inode, page), page * pageBytes, size, visitor);
            }
            next = pages[pages.length - 1] + 1;
        }
    }

    private static void visit(RecipePage page, long pageStart, long size, ReferenceVisitor visitor) throws IOException {
        for (int entry = 0; entry < page.count(); entry++) {
            long offset = pageStart + page.start(entry);
            int length = (int) Math.min(page.length(entry), size - offset);
            if (!page.isZero(entry) && length > 0) {
                visitor.visit(
                        offset, page.chunkId(entry), page.chunkOffset(entry), length, page.fingerprintPrefix(entry));
            }
        }
    }
}
