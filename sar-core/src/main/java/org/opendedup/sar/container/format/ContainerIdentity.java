package org.opendedup.sar.container.format;

import org.opendedup.sar.common.Writing;

/**
 * Which container a file is, and which writing of it: what its header, its footer and each of its frames repeat.
 *
 * @param container id of the container
 * @param salt random; repeated in every frame, so that a frame of another file that is stored in this one as user data
 *     is never mistaken for a frame of this file
 * @param generation number of the writing, from {@link ContainerFormat#FIRST_GENERATION} on
 */
public record ContainerIdentity(long container, long salt, int generation) {
    public Writing writing() {
        return new Writing(salt, generation);
    }
}
