package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.common.Writing;

/** Provides, for a container, the writing of it that exists. */
@FunctionalInterface
public interface WritingSource {
    Writing writing(long container) throws IOException;
}
