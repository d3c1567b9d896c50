/* Classifies an image by a model that passline-compile has made a library of.

     classify [IMAGE.ppm]

   The model has one input, 1 x 3 x height x width of f32, and one result, the scores of the
   classes. The image is a binary PPM with 8 bits per channel; without one, it is noise. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h" /* passline-compile --name=model */

enum { CHANNELS = 3, BEST = 5 };

/* What the networks of ImageNet are trained on: the mean and the deviation of each channel. */
static const float MEAN[CHANNELS] = {0.485f, 0.456f, 0.406f};
static const float DEVIATION[CHANNELS] = {0.229f, 0.224f, 0.225f};

typedef struct {
  int width, height;
  unsigned char *pixels; /* red, green and blue of each pixel */
} picture;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "classify: %s: %s\n", what, why);
  exit(1);
}

static void *allocate(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) fail("memory", "there is not enough");
  return memory;
}

static picture read_ppm(const char *name) {
  picture image;
  int greatest;
  size_t size;
  FILE *file = fopen(name, "rb");
  if (file == NULL) fail(name, "cannot be read");
  if (fscanf(file, "P6 %d %d %d", &image.width, &image.height, &greatest) != 3 ||
      fgetc(file) == EOF || greatest != 255 || image.width < 1 || image.height < 1 ||
      image.width > 32768 || image.height > 32768)
    fail(name, "is no binary PPM with 8 bits per channel");
  size = (size_t)image.width * (size_t)image.height * CHANNELS;
  image.pixels = (unsigned char *)allocate(size);
  if (fread(image.pixels, 1, size, file) != size) fail(name, "ends too early");
  fclose(file);
  return image;
}

static picture noise(int width, int height) {
  picture image;
  size_t i, size = (size_t)width * (size_t)height * CHANNELS;
  uint32_t state = 1;
  image.width = width;
  image.height = height;
  image.pixels = (unsigned char *)allocate(size);
  for (i = 0; i < size; i++) {
    state = state * 1664525u + 1013904223u;
    image.pixels[i] = (unsigned char)(state >> 24);
  }
  return image;
}

/* Scale an image to the size of the input, by the nearest pixels, and normalize it. */
static void fill(float *input, int height, int width, const picture *image) {
  int c, y, x;
  for (c = 0; c < CHANNELS; c++)
    for (y = 0; y < height; y++)
      for (x = 0; x < width; x++) {
        size_t row = (size_t)y * (size_t)image->height / (size_t)height;
        size_t column = (size_t)x * (size_t)image->width / (size_t)width;
        size_t pixel = row * (size_t)image->width + column;
        float value = (float)image->pixels[pixel * CHANNELS + (size_t)c] / 255.0f;
        *input++ = (value - MEAN[c]) / DEVIATION[c];
      }
}

static size_t elements(const passline_tensor *tensor) {
  size_t count = 1;
  int64_t axis;
  for (axis = 0; axis < tensor->rank; axis++) count *= (size_t)tensor->shape[axis];
  return count;
}

static void print_best(float *scores, size_t count) {
  int rank;
  for (rank = 0; rank < BEST; rank++) {
    size_t i, best = 0;
    for (i = 1; i < count; i++)
      if (scores[i] > scores[best]) best = i;
    printf("class %4zu: %.6f\n", best, (double)scores[best]);
    scores[best] = -1e30f;
  }
}

int main(int argc, char **argv) {
  const passline_function *function = &model_library.functions[0];
  const passline_tensor *input = &function->inputs[0], *result = &function->results[0];
  passline_failure failure;
  float *values, *scores;
  picture image;

  if (function->input_count != 1 || function->result_count != 1 || input->rank != 4 ||
      strcmp(input->type, "f32") != 0 || strcmp(result->type, "f32") != 0 ||
      input->shape[0] != 1 || input->shape[1] != CHANNELS || elements(result) < BEST)
    fail(model_library.name, "is no model that classifies one image");
  values = (float *)allocate(elements(input) * sizeof *values);
  scores = (float *)allocate(elements(result) * sizeof *scores);
  image = argc > 1 ? read_ppm(argv[1]) : noise((int)input->shape[3], (int)input->shape[2]);
  fill(values, (int)input->shape[2], (int)input->shape[3], &image);

  if (model_main(values, scores, &failure) != PASSLINE_OK)
    fail(failure.location ? failure.location : "model_main", failure.message);
  print_best(scores, elements(result));
  free(image.pixels);
  free(scores);
  free(values);
  return 0;
}
