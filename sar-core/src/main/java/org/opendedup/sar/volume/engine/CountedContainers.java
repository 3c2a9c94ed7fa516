package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.ContainerClaims;
import org.opendedup.sar.metadata.MetadataStore;

/** Reports, from the metadata, which containers exist, where they lie, and which slots are referred to. */
record CountedContainers(MetadataStore metadata) implements ContainerClaims {
    @Override
    public @Nullable StoredContainer stored(long container) throws IOException {
        return metadata.containers().get(container);
    }

    @Override
    public BitSet slots(long container) throws IOException {
        return metadata.counts().alive(container);
    }

    @Override
    public void forEachFrom(long first, StoppingVisitor visitor) throws IOException {
        metadata.containers().forEachFrom(first, entry -> visitor.visit(entry.container(), entry.stored()));
    }

    @Override
    public void forEachFormer(Visitor visitor) throws IOException {
        metadata.damage().former().forEach((container, place) -> {
            // A crash may leave the record of one that is healed.
            if (!metadata.counts().damaged(container).isEmpty()) {
                visitor.visit(container, place);
            }
        });
    }

    @Override
    public void forEachOpen(Visitor visitor) throws IOException {
        metadata.containers().forEachOpen(entry -> visitor.visit(entry.container(), entry.stored()));
    }

    @Override
    public long containers() {
        return metadata.containers().containers();
    }

    @Override
    public long storedBytes() {
        return metadata.containers().storedBytes();
    }
}
