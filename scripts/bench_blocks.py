"""The 4 KiB blocks of disk images: which are equal, how often, and where."""

import hashlib
from array import array

BLOCK = 4096
ZERO = 0


class Blocks:
    """The blocks of images in the order in which they are stored; block ids count up from 1 in the order of new contents, 0 is zeros."""

    def __init__(self, images):
        self.images = list(images)
        self.ids = []
        self.counts = array("I", [0])
        self.images_with = array("I", [0])
        known = {hashlib.sha1(bytes(BLOCK)).digest(): ZERO}
        for image in self.images:
            self.ids.append(self._read(image, known))
            for block in set(self.ids[-1]):
                self.images_with[block] += 1

    def _read(self, image, known):
        ids = array("I")
        with open(image, "rb") as file:
            while part := file.read(1 << 20):
                for start in range(0, len(part), BLOCK):
                    key = hashlib.sha1(part[start : start + BLOCK]).digest()
                    block = known.setdefault(key, len(self.counts))
                    if block == len(self.counts):
                        self.counts.append(0)
                        self.images_with.append(0)
                    self.counts[block] += 1
                    ids.append(block)
        return ids

    def shared(self, block):
        """Is a block in more than one image, and not zeros?"""
        return block != ZERO and self.images_with[block] > 1

    def spans(self, bytes_long, wanted):
        """Aligned spans as (image number, offset) all of whose blocks are wanted, or zeros if not all are.

        wanted: function of image number and block number; whether that block is wanted.
        """
        in_span = bytes_long // BLOCK
        for image, ids in enumerate(self.ids):
            for first in range(0, len(ids) - in_span + 1, in_span):
                numbers = [number for number in range(first, first + in_span) if ids[number] != ZERO]
                if numbers and all(wanted(image, number) for number in numbers):
                    yield image, first * BLOCK
